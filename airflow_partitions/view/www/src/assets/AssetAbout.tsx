import { Code, DataList, HStack, Heading, Link, Stack, Text } from "@chakra-ui/react";
import type { ReactNode } from "react";
import { Link as RouterLink } from "react-router-dom";

import { paths } from "../page/paths";
import type { components } from "../rest/schema";

type Asset = components["schemas"]["AssetDetails"];

const Item = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <DataList.Item alignItems="start">
    <DataList.ItemLabel minW={28}>{name}</DataList.ItemLabel>
    <DataList.ItemValue overflowWrap="anywhere" minW={0}>
      {children}
    </DataList.ItemValue>
  </DataList.Item>
);

const Links = ({ names, to }: { readonly names: readonly string[]; readonly to: (name: string) => string }) => (
  <HStack wrap="wrap" columnGap={3} rowGap={1} minW={0}>
    {names.map((name) => (
      <Link key={name} asChild color="fg.info" display="inline">
        <RouterLink to={to(name)}>
          <bdi>{name}</bdi>
        </RouterLink>
      </Link>
    ))}
  </HStack>
);

const distinct = (values: readonly (string | null | undefined)[]): readonly string[] =>
  [...new Set(values.filter((value) => value != null && value !== ""))] as readonly string[];

/** What its Dags say of an asset: whose it is, when it is made and by what, where it is, and what is around it. */
export const AssetAbout = ({
  asset: { sources, owners, producers, upstream, downstream },
}: {
  readonly asset: Asset;
}) => {
  const schedules = distinct(sources.map(({ schedule }) => schedule));
  const files = distinct(sources.map(({ file }) => file));
  const places = sources.flatMap(({ place }) => (place === null ? [] : [place]));
  return (
    <section aria-labelledby="about">
      <Heading as="h2" size="sm" id="about" mb={2}>
        About
      </Heading>
      <DataList.Root orientation="horizontal" size="md" gap={2}>
        {owners.length === 0 ? null : <Item name="Owner">{owners.join(", ")}</Item>}
        {schedules.length === 0 ? null : <Item name="Runs">{schedules.join("; ")}</Item>}
        <Item name="Made by">
          {producers.length === 0 ? (
            <Text color="fg.muted">no Dag of this Airflow</Text>
          ) : (
            <HStack wrap="wrap" columnGap={3} rowGap={1}>
              <Links names={producers} to={paths.dag} />
              {files.length === 0 ? null : (
                <Text color="fg.muted" minW={0} overflowWrap="anywhere">
                  in {files.join(", ")}
                </Text>
              )}
            </HStack>
          )}
        </Item>
        {places.map(({ path, kind, format }) => (
          <Item key={path} name="Stored in">
            <Stack gap={0} minW={0}>
              <Code variant="plain" px={0} whiteSpace="normal" overflowWrap="anywhere">
                {path}
              </Code>
              <Text color="fg.muted">{distinct([format, kind]).join(", ")}</Text>
            </Stack>
          </Item>
        ))}
        <Item name="Upstream">
          {upstream.length === 0 ? (
            <Text color="fg.muted">none that you may see</Text>
          ) : (
            <Links names={upstream} to={paths.asset} />
          )}
        </Item>
        <Item name="Downstream">
          {downstream.length === 0 ? (
            <Text color="fg.muted">none that you may see</Text>
          ) : (
            <Links names={downstream} to={paths.asset} />
          )}
        </Item>
      </DataList.Root>
    </section>
  );
};

/** What an asset is, in the words of those who make it; nothing where they say nothing. */
export const Description = ({ sources }: Pick<Asset, "sources">) =>
  distinct(sources.map(({ description }) => description)).map((text) => (
    <Text key={text} whiteSpace="pre-line" overflowWrap="anywhere" lineClamp={6} maxW="60rem">
      {text}
    </Text>
  ));
