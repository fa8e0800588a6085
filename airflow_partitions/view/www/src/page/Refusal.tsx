import { Alert, Link } from "@chakra-ui/react";
import { Link as RouterLink } from "react-router-dom";

import { paths } from "./paths";
import { Problem } from "../rest/problem";

const TITLES: Record<number, string> = {
  0: "The server does not answer",
  403: "You may not do this",
  404: "Not there any more",
};

/** Why what one asked for is not done, in the server's words, and what leads on. */
export const Refusal = ({ error }: { readonly error: Error }) => {
  const problem = error instanceof Problem ? error : undefined;
  const request = problem?.document.request ?? undefined;
  return (
    <Alert.Root status={problem?.passing === false ? "warning" : "error"} role="alert">
      <Alert.Indicator />
      <Alert.Content>
        <Alert.Title>{TITLES[problem?.status ?? -1] ?? problem?.document.title ?? "Refused"}</Alert.Title>
        <Alert.Description overflowWrap="anywhere">
          {error.message}
          {problem?.passing === true ? " What you entered is kept: try again." : null}
        </Alert.Description>
        {request === undefined ? null : (
          <Link asChild textDecoration="underline">
            <RouterLink to={paths.request(request)}>See request {request}</RouterLink>
          </Link>
        )}
      </Alert.Content>
    </Alert.Root>
  );
};
