import { Component, type ReactNode } from "react";

import { Plain } from "./Plain";

type Fault = { readonly fault: Error | null };

/** Shows a fault of a page in its place, so that the rest of Airflow goes on. */
export class Faults extends Component<{ readonly children: ReactNode }, Fault> {
  override state: Fault = { fault: null };

  static getDerivedStateFromError(fault: unknown): Fault {
    return { fault: fault instanceof Error ? fault : new Error(String(fault)) };
  }

  override render() {
    const { fault } = this.state;
    if (fault === null) return this.props.children;
    return (
      <Plain title="This page has a fault">
        <p>
          Nothing has happened to your partitions; only the page can’t show them. Load it again. If the fault stays,
          report it with this text:
        </p>
        <pre style={{ margin: "0.75rem 0", whiteSpace: "pre-wrap", opacity: 0.8 }}>{fault.message}</pre>
        <button type="button" style={{ textDecoration: "underline" }} onClick={() => window.location.reload()}>
          Load the page again
        </button>
      </Plain>
    );
  }
}
