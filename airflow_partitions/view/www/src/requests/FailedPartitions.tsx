import { Box, Heading, List, Text } from "@chakra-ui/react";

import { useAsset } from "../assets/useAsset";
import { Trouble } from "../page/Trouble";
import { useTrouble } from "../page/useTrouble";
import { rest } from "../rest/client";
import { StateMark } from "../states/StateMark";
import { FailedStretch } from "./FailedStretch";
import { hasEnded, pace, type Request } from "./request";

/** The partitions of a request that are failed now, with links. */
export const FailedPartitions = ({ request }: { readonly request: Request }) => {
  const { data: about } = useAsset(request.asset);
  const stretches = rest.useQuery(
    "get",
    "/api/v1/assets/{asset}/states",
    {
      params: {
        path: { asset: request.asset },
        query: { select: request.selection, states: ["failed"], limit: 100 },
      },
    },
    { refetchInterval: pace(!hasEnded(request)) },
  );
  const trouble = useTrouble(stretches);
  const listed = stretches.data?.stretches ?? [];
  if (trouble !== null && stretches.data === undefined) return <Trouble error={trouble} />;
  if (listed.length === 0) return null;
  // Keys that are known at runtime are listed in the order in which they came.
  const inOrder = about !== undefined && about.definition.kind !== "runtime";
  return (
    <section aria-labelledby="failed">
      <Heading as="h2" size="sm" id="failed" mb={2}>
        Failed partitions
      </Heading>
      <List.Root variant="plain" gap={1} fontSize="sm">
        {listed.map((stretch) => (
          <List.Item key={`${stretch.first} ${stretch.last}`} display="flex" gap={2} overflowWrap="anywhere">
            <Box pt={0.5} flexShrink={0}>
              <StateMark state="failed" />
            </Box>
            <FailedStretch request={request} stretch={stretch} inOrder={inOrder} />
          </List.Item>
        ))}
      </List.Root>
      {stretches.data?.cursor == null ? null : <Text color="fg.muted">And more.</Text>}
    </section>
  );
};
