import { Alert, Button, HStack, Link, List } from "@chakra-ui/react";
import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link as RouterLink } from "react-router-dom";

import { loginPath } from "../rest/base";
import { Problem } from "../rest/problem";
import { paths } from "./paths";

type Kind = { readonly status: "error" | "warning"; readonly title: string; readonly text: string };

const UNKNOWN_ASSET = "urn:airflow-partitions:unknown-asset";

/** What has happened, in words: the server's own, where it has any. */
const kind = (error: Error): Kind => {
  if (!(error instanceof Problem)) return { status: "error", title: "Fault in the page", text: error.message };
  const { status, document } = error;
  const text = error.message;
  switch (true) {
    case status === 0:
      return { status: "error", title: "No answer", text: "The server does not answer. The page goes on asking." };
    case status === 401:
      return {
        status: "warning",
        title: "Your session is over",
        text: "Log in again; you will come back to this page.",
      };
    case status === 403:
      return { status: "warning", title: "No permission", text: document.detail ?? "You may not see this." };
    case status >= 500:
      return { status: "error", title: document.title ?? "The server failed", text };
    default:
      return { status: "error", title: document.title ?? "Refused", text };
  }
};

const Again = () => {
  const queries = useQueryClient();
  return (
    <Button size="sm" variant="outline" onClick={() => void queries.refetchQueries({ type: "active" })}>
      Try again
    </Button>
  );
};

/** Ways out of an error: only those that may help. */
const WaysOut = ({ error }: { readonly error: Error }): ReactNode => {
  if (!(error instanceof Problem)) {
    return (
      <Button size="sm" variant="outline" onClick={() => window.location.reload()}>
        Load the page again
      </Button>
    );
  }
  if (error.passing) return <Again />;
  if (error.status === 401) {
    return (
      <Button asChild size="sm" variant="outline">
        <a href={loginPath()}>Log in</a>
      </Button>
    );
  }
  if (error.status !== 404) return null;
  const nearest = error.document.type === UNKNOWN_ASSET ? (error.document.nearest ?? []) : [];
  return (
    <>
      {nearest.map((asset) => (
        <Link key={asset} asChild colorPalette="blue" variant="underline">
          <RouterLink to={paths.asset(asset)}>
            <bdi>{asset}</bdi>
          </RouterLink>
        </Link>
      ))}
      <Link asChild colorPalette="blue" variant="underline">
        <RouterLink to={paths.overview()}>All assets</RouterLink>
      </Link>
    </>
  );
};

/** Why something is not shown, in the server's words, and the ways out. */
export const Trouble = ({ error }: { readonly error: Error }) => {
  const { status, title, text } = kind(error);
  const mistakes = error instanceof Problem ? (error.document.mistakes ?? []) : [];
  return (
    <Alert.Root status={status} my={2} role="alert">
      <Alert.Indicator />
      <Alert.Content gap={2}>
        <Alert.Title>{title}</Alert.Title>
        {text !== title && <Alert.Description overflowWrap="anywhere">{text}</Alert.Description>}
        {mistakes.length > 0 && (
          <List.Root ps={4}>
            {mistakes.map(({ field, detail }) => (
              <List.Item key={field}>
                {field}: {detail}
              </List.Item>
            ))}
          </List.Root>
        )}
        <HStack wrap="wrap" gap={4}>
          <WaysOut error={error} />
        </HStack>
      </Alert.Content>
    </Alert.Root>
  );
};
