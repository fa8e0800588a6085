import { Alert, Dialog, Link, List, Skeleton, Stack, Text } from "@chakra-ui/react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link as RouterLink } from "react-router-dom";

import { ActionDialog, type Shown } from "../actions/ActionDialog";
import { DialogButtons } from "../actions/DialogButtons";
import { counted } from "../page/amounts";
import { paths } from "../page/paths";
import { tell } from "../page/toasts";
import { requestKey, type Request } from "./request";
import { change, type Verb } from "./verbs";

const WORDS: Readonly<Record<Verb, { go: string; done: string; refused: string; about: string }>> = {
  pause: {
    go: "Pause",
    done: "paused",
    refused: "can’t be paused",
    about: "No more runs begin until it goes on; those that are at work go on.",
  },
  resume: { go: "Resume", done: "going on", refused: "can’t go on", about: "Its runs begin again." },
  cancel: {
    go: "Cancel",
    done: "cancelled",
    refused: "can’t be cancelled",
    about: "No more runs begin, for good, and those that have not begun fail; those that are at work go on.",
  },
  retry: {
    go: "Re-run failed of",
    done: "running again",
    refused: "can’t run again",
    about: "The runs that failed, or were cancelled, work again.",
  },
  delete: {
    go: "Delete",
    done: "deleted",
    refused: "can’t be deleted",
    about: "It is deleted with its backfill, for good. Its runs stay, and what they made.",
  },
};

/** So many are changed at once: a database may have one writer at a time. */
const AT_ONCE = 4;

type Outcome = { readonly request: Request; readonly refusal: Error | null };

/** Changes each request, whatever becomes of the others. */
const changeEach = async (verb: Verb, requests: readonly Request[], dryRun: boolean): Promise<readonly Outcome[]> => {
  const one = async (request: Request): Promise<Outcome> => {
    try {
      await change(verb, request.id, dryRun);
      return { request, refusal: null };
    } catch (error) {
      return { request, refusal: error instanceof Error ? error : new Error(String(error)) };
    }
  };
  const outcomes: Outcome[] = [];
  for (let first = 0; first < requests.length; first += AT_ONCE) {
    outcomes.push(...(await Promise.all(requests.slice(first, first + AT_ONCE).map(one))));
  }
  return outcomes;
};

const Refused = ({ words, outcomes }: { readonly words: string; readonly outcomes: readonly Outcome[] }) => (
  <Alert.Root status="warning" role="alert">
    <Alert.Indicator />
    <Alert.Content minW={0}>
      <Alert.Title>
        {counted(outcomes.length, "request")} {words}
      </Alert.Title>
      <List.Root variant="plain" gap={1}>
        {outcomes.map(({ request, refusal }) => (
          <List.Item key={request.id} overflowWrap="anywhere">
            <Link asChild textDecoration="underline">
              <RouterLink to={paths.request(request.id)}>Request {request.id}</RouterLink>
            </Link>
            : {refusal?.message}
          </List.Item>
        ))}
      </List.Root>
    </Alert.Content>
  </Alert.Root>
);

type Asked = { readonly verb: Verb; readonly requests: readonly Request[] };

const Question = ({ verb, requests, onClose, onDone }: Asked & Pick<Shown, "onClose"> & { onDone: () => void }) => {
  const queries = useQueryClient();
  const words = WORDS[verb];
  const dryRun = useQuery({
    queryKey: ["change", verb, requests.map(({ id }) => id)],
    queryFn: () => changeEach(verb, requests, true),
    gcTime: 0,
    staleTime: Infinity,
  });
  const order = useMutation({
    mutationFn: (able: readonly Request[]) => changeEach(verb, able, false),
    onSuccess: (outcomes) => {
      const done = outcomes.filter(({ refusal }) => refusal === null).map(({ request }) => request.id);
      const [only] = done;
      if (only !== undefined) {
        tell(done.length === 1 ? `Request ${only} is ${words.done}` : `${done.length} requests are ${words.done}`);
      }
      if (done.length === outcomes.length) {
        onClose();
        onDone();
      }
      if (verb === "delete") for (const id of done) queries.removeQueries({ queryKey: requestKey(id) });
      return queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== "change" });
    },
  });
  const tried = dryRun.data ?? [];
  const able = tried.filter(({ refusal }) => refusal === null).map(({ request }) => request);
  const refused = tried.filter(({ refusal }) => refusal !== null);
  const failed = (order.data ?? []).filter(({ refusal }) => refusal !== null);
  return (
    <>
      <Dialog.Body>
        <Stack gap={4}>
          <Text>{words.about}</Text>
          {dryRun.isPending ? <Skeleton height={10} aria-label="Looking whether that can be" /> : null}
          {able.length === 0 ? null : (
            <Stack as="ul" gap={1} maxH={52} overflowY="auto" listStyleType="none" tabIndex={0}>
              {able.map(({ id, asset, state, partitions }) => (
                <li key={id}>
                  {`Request ${id}, ${state}: ${counted(partitions, "partition")} of `}
                  <bdi>{asset}</bdi>
                </li>
              ))}
            </Stack>
          )}
          {refused.length === 0 ? null : <Refused words={words.refused} outcomes={refused} />}
          {failed.length === 0 ? null : <Refused words="stay as they are" outcomes={failed} />}
        </Stack>
      </Dialog.Body>
      <DialogButtons
        disabled={able.length === 0 || order.data !== undefined}
        loading={order.isPending}
        dangerous={verb === "cancel" || verb === "delete"}
        onCancel={onClose}
        onGo={() => order.mutate(able)}
      >
        {`${words.go} ${able.length === 0 ? "none" : counted(able.length, "request")}`}
      </DialogButtons>
    </>
  );
};

/** Asks before some requests are changed: which of them, and of the others why they can't be. */
export const ChangeDialog = ({
  onDone = () => undefined,
  ...asked
}: Asked & Shown & { /** All were changed. */ readonly onDone?: () => void }) => {
  const { verb, requests, open, onClose } = asked;
  const [only, second] = requests;
  const what = only !== undefined && second === undefined ? `request ${only.id}` : counted(requests.length, "request");
  return (
    <ActionDialog open={open} onClose={onClose} title={`${WORDS[verb].go} ${what}?`}>
      <Question verb={verb} requests={requests} onClose={onClose} onDone={onDone} />
    </ActionDialog>
  );
};
