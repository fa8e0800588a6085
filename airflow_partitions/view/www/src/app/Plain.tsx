import type { ReactNode } from "react";

type Message = { readonly title: string; readonly children: ReactNode };

/** A message that needs nothing of the host but React. */
export const Plain = ({ title, children }: Message) => (
  <div role="alert" style={{ padding: "1.5rem", maxWidth: "48rem", fontFamily: "inherit" }}>
    <p style={{ fontWeight: 700, fontSize: "1.125rem", marginBottom: "0.5rem" }}>{title}</p>
    {children}
  </div>
);
