import { Breadcrumb, Flex, Heading, HStack } from "@chakra-ui/react";
import { Fragment, type ReactNode } from "react";
import { Link } from "react-router-dom";

import { useTitle } from "./title";

/** A page above this one. */
export type Crumb = { readonly name: string; readonly to: string };

type Content = {
  /** What the page shows, such as the key of a partition. */
  readonly title: string;
  /** The pages above, outermost first; none for a page of the menu. */
  readonly crumbs?: readonly Crumb[];
  /** Beside the title, such as badges. */
  readonly beside?: ReactNode;
  /** At the other end of the line: buttons. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
};

/** A page: the way to it, its title, what can be done, and its content. */
export const Page = ({ title, crumbs = [], beside, actions, children }: Content) => {
  useTitle([title, ...crumbs.map(({ name }) => name).reverse()].join(" - "));
  return (
    <>
      {crumbs.length > 0 && (
        <Breadcrumb.Root mb={1} aria-label="Way to this page">
          <Breadcrumb.List flexWrap="wrap">
            {crumbs.map(({ name, to }) => (
              <Fragment key={to}>
                <Breadcrumb.Item>
                  <Breadcrumb.Link asChild color="fg.info">
                    <Link to={to}>
                      <bdi>{name}</bdi>
                    </Link>
                  </Breadcrumb.Link>
                </Breadcrumb.Item>
                <Breadcrumb.Separator>/</Breadcrumb.Separator>
              </Fragment>
            ))}
            <Breadcrumb.Item>
              <Breadcrumb.CurrentLink truncate maxW={{ base: "16rem", md: "24rem" }}>
                <bdi>{title}</bdi>
              </Breadcrumb.CurrentLink>
            </Breadcrumb.Item>
          </Breadcrumb.List>
        </Breadcrumb.Root>
      )}
      <Flex justify="space-between" align="center" wrap="wrap" gap={2} mb={3} minH={8}>
        {/* As high as a button: nothing moves where the actions come later, on a line of their own. */}
        <HStack gap={3} wrap="wrap" minW={0} minH={8}>
          <Heading as="h1" size="md" maxW="full" overflowWrap="anywhere">
            <bdi>{title}</bdi>
          </Heading>
          {beside}
        </HStack>
        {actions}
      </Flex>
      {children}
    </>
  );
};
