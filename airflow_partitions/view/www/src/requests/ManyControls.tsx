import { Button, HStack, Text } from "@chakra-ui/react";
import { useState } from "react";

import { counted, number } from "../page/amounts";
import { ChangeDialog } from "./ChangeDialog";
import type { Request } from "./request";
import { LABELS, type Verb, VERBS, verbsFor } from "./verbs";

const NOTHING = { verb: "pause", requests: [] } as const;

/** What may be done with several requests at once; it has its place as long as none is chosen, too. */
export const ManyControls = ({
  chosen,
  onDone,
}: {
  readonly chosen: readonly Request[];
  /** All that were chosen are changed. */
  readonly onDone: () => void;
}) => {
  const [asked, setAsked] = useState<{ readonly verb: Verb; readonly requests: readonly Request[] }>(NOTHING);
  const [open, setOpen] = useState(false);
  // Whatever can't be deleted is told with its reason.
  const of = (verb: Verb) => chosen.filter((request) => verb === "delete" || verbsFor(request).includes(verb));
  return (
    <HStack wrap="wrap" gap={2} mb={3} role="group" aria-label="Chosen requests">
      <Text fontSize="sm" color="fg.muted" minW={28} role="status">
        {chosen.length === 0 ? "None chosen" : `${counted(chosen.length, "request")} chosen`}
      </Text>
      {VERBS.map((verb) => {
        const some = of(verb);
        return (
          <Button
            key={verb}
            size="xs"
            variant="outline"
            colorPalette={verb === "cancel" || verb === "delete" ? "red" : "brand"}
            disabled={some.length === 0}
            onClick={() => {
              setAsked({ verb, requests: some });
              setOpen(true);
            }}
          >
            {verb === "cancel" ? "Cancel" : LABELS[verb]}
            {some.length === 0 ? "" : ` (${number(some.length)})`}…
          </Button>
        );
      })}
      <ChangeDialog {...asked} open={open} onClose={() => setOpen(false)} onDone={onDone} />
    </HStack>
  );
};
