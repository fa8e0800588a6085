import { Alert } from "@chakra-ui/react";
import { useQueryClient, type Query, type QueryCache } from "@tanstack/react-query";
import { useCallback, useSyncExternalStore } from "react";

import { Problem } from "../rest/problem";

const away = (query: Query): boolean => {
  const reason: unknown = query.state.fetchFailureReason ?? query.state.error;
  return query.isActive() && reason instanceof Problem && reason.passing;
};

/** Of when the oldest of what is on the screen is that is not answered anew, as milliseconds; 0 if there is none. */
export const silentSince = (cache: QueryCache): number => {
  const moments = cache
    .getAll()
    .flatMap((query) => (away(query) && query.state.data !== undefined ? [query.state.dataUpdatedAt] : []));
  return moments.length === 0 ? 0 : Math.min(...moments);
};

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });

/** Says that what is on the screen is of an earlier moment, as long as the server does not answer. */
export const NoAnswer = () => {
  const cache = useQueryClient().getQueryCache();
  const since = useSyncExternalStore(
    useCallback((changed: () => void) => cache.subscribe(changed), [cache]),
    () => silentSince(cache),
  );
  if (since === 0) return null;
  return (
    <Alert.Root status="warning" size="sm" position="sticky" top={0} zIndex="banner" mb={2}>
      <Alert.Indicator />
      <Alert.Title>No answer since {clock.format(since)}; trying again</Alert.Title>
    </Alert.Root>
  );
};
