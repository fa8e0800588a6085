import { Box, Grid, Text } from "@chakra-ui/react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect, useRef, useState } from "react";

import { AssetRow, columns } from "./AssetRow";
import type { Group, Placed } from "./lineage";

type Line = { readonly key: string; readonly heading: string } | { readonly key: string; readonly placed: Placed };

const linesOf = (group: Group): readonly Line[] => {
  const [first] = group;
  const rows = group.map((placed) => ({ key: `asset ${placed.asset.name}`, placed }));
  if (first === undefined || group.length === 1) return rows;
  return [{ key: `group ${first.asset.name}`, heading: `${group.length} assets from ${first.asset.name}` }, ...rows];
};

type Content = { readonly groups: readonly Group[]; readonly graph: boolean };

/** The assets as rows, of which only those in view are drawn; with headings and lines of the graph if `graph`. */
export const AssetRows = ({ groups, graph }: Content) => {
  const list = useRef<HTMLDivElement>(null);
  const [above, setAbove] = useState(0);
  const scroll = () => list.current?.closest<HTMLElement>("[data-scroll]") ?? null;
  const lines = groups.flatMap((group): readonly Line[] =>
    graph ? linesOf(group) : group.map((placed) => ({ key: `asset ${placed.asset.name}`, placed })),
  );
  // eslint-disable-next-line react-hooks/incompatible-library -- the list of rows is drawn by nothing that is memoised
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: scroll,
    estimateSize: (index) => ("heading" in (lines[index] ?? {}) ? 40 : 57),
    getItemKey: (index) => lines[index]?.key ?? index,
    overscan: 8,
    useFlushSync: false, // React draws when it can, and the scroll goes on
    scrollMargin: above,
    initialRect: { width: 1280, height: 800 },
  });
  useLayoutEffect(() => {
    const top = scroll();
    if (list.current === null || top === null) return;
    const offset = list.current.getBoundingClientRect().top - top.getBoundingClientRect().top + top.scrollTop;
    setAbove(Math.round(offset));
  }, [groups]);
  return (
    <Box role="table" aria-label="Assets" aria-rowcount={lines.length + 1}>
      <Grid
        role="row"
        hideBelow="md"
        templateColumns={columns}
        columnGap={4}
        px={2}
        py={2}
        fontSize="sm"
        fontWeight="bold"
        borderBottomWidth={1}
        borderColor="border.emphasized"
      >
        {["Asset", "Partitions", "Newest", "Next"].map((name) => (
          <Text key={name} role="columnheader">
            {name}
          </Text>
        ))}
        <Text role="columnheader" hideBelow="lg">
          Tags, owners
        </Text>
      </Grid>
      <Box ref={list} role="rowgroup" position="relative" height={`${rows.getTotalSize()}px`}>
        {rows.getVirtualItems().map(({ index, key, start }) => {
          const line = lines[index];
          return (
            <Box
              key={key}
              ref={rows.measureElement}
              data-index={index}
              position="absolute"
              top={0}
              insetX={0}
              style={{ transform: `translateY(${start - above}px)` }}
            >
              {line !== undefined && "heading" in line ? (
                <Text role="row" fontSize="xs" color="fg.muted" pt={4} pb={1} px={2}>
                  <bdi role="cell">{line.heading}</bdi>
                </Text>
              ) : (
                line && <AssetRow placed={line.placed} graph={graph} />
              )}
            </Box>
          );
        })}
      </Box>
    </Box>
  );
};
