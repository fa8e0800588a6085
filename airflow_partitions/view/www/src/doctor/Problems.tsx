import { Badge, Box, Flex, Heading, HStack, Link, Text } from "@chakra-ui/react";
import { Link as RouterLink } from "react-router-dom";

import { paths } from "../page/paths";
import { byKind, headings, type Problem } from "./problem";
import { RemedyButton } from "./RemedyButton";

const To = ({ to, children }: { readonly to: string; readonly children: string }) => (
  <Link asChild display="inline" color="fg.info" fontWeight="bold" overflowWrap="anywhere">
    <RouterLink to={to}>
      <bdi>{children}</bdi>
    </RouterLink>
  </Link>
);

const Line = ({ problem }: { readonly problem: Problem }) => {
  const { text, dag_id, asset, request } = problem;
  return (
    <Flex as="li" gap={3} py={3} px={2} borderBottomWidth={1} wrap="wrap" align="center" justify="space-between">
      <Box flex="1 1 22rem" minW={0}>
        <HStack gap={3} wrap="wrap">
          {request !== null && <To to={paths.request(request)}>{`Request ${request}`}</To>}
          {asset !== null && <To to={paths.asset(asset)}>{asset}</To>}
          {dag_id !== null && dag_id !== asset && <To to={paths.dag(dag_id)}>{dag_id}</To>}
        </HStack>
        <Text overflowWrap="anywhere" whiteSpace="pre-wrap">
          {text}
        </Text>
      </Box>
      <RemedyButton problem={problem} />
    </Flex>
  );
};

/** Problems by their kinds, each with what mends it. */
export const Problems = ({ problems }: { readonly problems: readonly Problem[] }) =>
  byKind(problems).map(([kind, those]) => (
    <Box as="section" key={kind} mb={6}>
      <Heading as="h2" size="sm" borderBottomWidth={1} borderColor="border.emphasized" pb={2} px={2}>
        {headings[kind]} <Badge colorPalette={those.some((one) => one.is_error) ? "red" : "gray"}>{those.length}</Badge>
      </Heading>
      <Box as="ul" listStyleType="none">
        {those.map((problem) => (
          <Line key={[problem.dag_id, problem.asset, problem.request, problem.text].join("|")} problem={problem} />
        ))}
      </Box>
    </Box>
  ));
