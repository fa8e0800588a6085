import { Button, Dialog, Stack, Text } from "@chakra-ui/react";
import { useState } from "react";

import { ActionDialog, type Shown } from "./ActionDialog";
import { CorrectionForm } from "./CorrectionDialog";
import { MaterializeForm } from "./MaterializeDialog";
import { PartitionsField } from "./PartitionsFields";

type Step = "list" | "materialize" | "mark" | "forget";

const Steps = ({
  asset,
  first,
  onClose,
}: { readonly asset: string; readonly first: string } & Pick<Shown, "onClose">) => {
  const [step, setStep] = useState<Step>("list");
  const [text, setText] = useState(first);
  const partitions = { selection: text };
  if (step === "materialize") return <MaterializeForm asset={asset} partitions={partitions} onClose={onClose} />;
  if (step !== "list") return <CorrectionForm asset={asset} kind={step} partitions={partitions} onClose={onClose} />;
  const disabled = text.trim() === "";
  return (
    <>
      <Dialog.Body>
        <Stack gap={4}>
          <Text>Paste keys, one a line. Blank lines, and those that begin with #, are left out.</Text>
          <PartitionsField value={text} onChange={setText} rows={8} />
        </Stack>
      </Dialog.Body>
      <Dialog.Footer flexWrap="wrap">
        <Button variant="outline" onClick={onClose}>
          Cancel
        </Button>
        <Button variant="outline" disabled={disabled} onClick={() => setStep("forget")}>
          Forget…
        </Button>
        <Button variant="outline" disabled={disabled} onClick={() => setStep("mark")}>
          Mark…
        </Button>
        <Button colorPalette="brand" disabled={disabled} onClick={() => setStep("materialize")}>
          Materialize…
        </Button>
      </Dialog.Footer>
    </>
  );
};

/** Takes a list of keys, and what is to be done with them. */
export const KeysDialog = ({
  asset,
  first,
  ...shown
}: Shown & { readonly asset: string; /** The list to begin with. */ readonly first: string }) => (
  <ActionDialog {...shown} title={`Partitions of ${asset} by their keys`}>
    <Steps asset={asset} first={first} onClose={shown.onClose} />
  </ActionDialog>
);
