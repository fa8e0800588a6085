import { Alert, Box, NativeSelect, Stack, Text } from "@chakra-ui/react";
import { useSearchParams } from "react-router-dom";

import { counted } from "../page/amounts";
import { Answer } from "../page/Answer";
import { Page } from "../page/Page";
import { rest } from "../rest/client";
import { Changes } from "./Changes";
import { FailureList } from "./FailureList";

/** How often the page asks again, in milliseconds: many partitions are looked at. */
const PACE = 30_000;

const SPANS = [
  { text: "at any time", since: "" },
  { text: "within the last hour", since: "1h" },
  { text: "within the last 8 hours", since: "8h" },
  { text: "within the last day", since: "1d" },
  { text: "within the last 7 days", since: "7d" },
];

/** What failed, by its error, over all assets; and what got worse in a span of time. */
export const FailuresPage = () => {
  const [address, setAddress] = useSearchParams();
  const since = address.get("since") ?? "";
  const query = rest.useQuery(
    "get",
    "/api/v1/failures",
    { params: { query: since === "" ? {} : { since } } },
    { refetchInterval: PACE },
  );
  const spans = (
    <NativeSelect.Root size="sm" width="auto">
      <NativeSelect.Field
        aria-label="Failed"
        value={since}
        onChange={({ target }) => setAddress(target.value === "" ? {} : { since: target.value }, { replace: true })}
      >
        {SPANS.map((span) => (
          <option key={span.since} value={span.since}>
            {span.text}
          </option>
        ))}
        {SPANS.some((span) => span.since === since) ? null : <option value={since}>since {since}</option>}
      </NativeSelect.Field>
      <NativeSelect.Indicator />
    </NativeSelect.Root>
  );
  return (
    <Page title="Failures" actions={spans}>
      <Answer query={query}>
        {({ failures, problems, unread, cursor }) => (
          <Stack gap={4}>
            {problems.map((problem) => (
              <Alert.Root key={problem} status="warning">
                <Alert.Indicator />
                <Alert.Title overflowWrap="anywhere">{problem}</Alert.Title>
              </Alert.Root>
            ))}
            {failures.length === 0 ? (
              <Alert.Root status="success">
                <Alert.Indicator />
                <Alert.Title>No partition is failed{problems.length > 0 ? ", as far as can be told" : ""}</Alert.Title>
              </Alert.Root>
            ) : (
              <FailureList failures={failures} />
            )}
            {unread === 0 ? null : (
              <Text color="fg.muted">{counted(unread, "older failed partition")} not looked at.</Text>
            )}
            {cursor === null ? null : <Text color="fg.muted">And more, with other errors.</Text>}
          </Stack>
        )}
      </Answer>
      {since === "" ? null : (
        <Box mt={6}>
          <Changes since={since} pace={PACE} />
        </Box>
      )}
    </Page>
  );
};
