import { Box, Code, DataList, Heading, Stack, Text } from "@chakra-ui/react";

import { Moment } from "../requests/Moment";
import type { components } from "../rest/schema";
import { UnprovenBadge } from "./UnprovenBadge";

type Event = components["schemas"]["Event"];

const isPlain = (value: unknown): value is string | number | boolean =>
  ["string", "number", "boolean"].includes(typeof value);

/** What was kept with an event: plain values as a list, all of it as JSON where one wants it. */
const Extra = ({ extra }: { readonly extra: Readonly<Record<string, unknown>> }) => {
  const plain = Object.entries(extra).flatMap(([name, value]) =>
    isPlain(value) ? [[name, String(value)] as const] : [],
  );
  return (
    <>
      <DataList.Root orientation="horizontal" gap={1} size="md">
        {plain.map(([name, value]) => (
          <DataList.Item key={name} alignItems="start">
            <DataList.ItemLabel minW={36}>
              <bdi>{name}</bdi>
            </DataList.ItemLabel>
            <DataList.ItemValue overflowWrap="anywhere">
              <bdi>{value}</bdi>
            </DataList.ItemValue>
          </DataList.Item>
        ))}
      </DataList.Root>
      {Object.keys(extra).length === 0 ? null : (
        <details>
          <Box as="summary" cursor="pointer" fontSize="sm" fontWeight="medium" py={1}>
            All of it as JSON
          </Box>
          <Code display="block" whiteSpace="pre-wrap" overflowWrap="anywhere" p={3} maxH={96} overflowY="auto">
            {JSON.stringify(extra, null, 2)}
          </Code>
        </details>
      )}
    </>
  );
};

/** The times at which a partition was materialized, and what was kept with each: the newest first. */
export const Events = ({ events }: { readonly events: readonly Event[] }) => (
  <section aria-labelledby="events">
    <Heading as="h2" size="sm" id="events" mb={2}>
      Materializations
    </Heading>
    {events.length === 0 ? <Text color="fg.muted">It was never materialized.</Text> : null}
    <Stack gap={4}>
      {events.map((event) => (
        <Box key={`${event.at} ${event.run_id ?? ""}`} borderWidth={1} borderRadius="md" p={3}>
          <Text fontWeight="medium" mb={2} overflowWrap="anywhere">
            <Moment at={event.at} />
            {event.by == null ? null : (
              <>
                {" by "}
                <bdi>{event.by}</bdi>
                {", without a run"}
              </>
            )}{" "}
            <UnprovenBadge unproven={event.unproven} />
          </Text>
          <Extra extra={event.extra} />
        </Box>
      ))}
    </Stack>
  </section>
);
