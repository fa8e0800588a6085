import { Button, Dialog, Skeleton } from "@chakra-ui/react";
import { useState } from "react";

import { joinKey } from "../partition/key";
import { ActionDialog, type Shown } from "./ActionDialog";
import { DialogButtons } from "./DialogButtons";
import { KeyPicker } from "./KeyPicker";
import { MaterializeForm } from "./MaterializeDialog";
import { Refusal } from "../page/Refusal";
import { useAsset } from "../assets/useAsset";

const Steps = ({ asset, onClose }: { readonly asset: string } & Pick<Shown, "onClose">) => {
  const { data: about, error } = useAsset(asset);
  const [value, setValue] = useState<Readonly<Record<string, string>>>({});
  const [selection, setSelection] = useState<string>();
  if (selection !== undefined) return <MaterializeForm asset={asset} partitions={{ selection }} onClose={onClose} />;
  if (about === undefined) {
    return <Dialog.Body pb={6}>{error ? <Refusal error={error} /> : <Skeleton height={48} />}</Dialog.Body>;
  }
  const { dimensions, timezone } = about.definition;
  const picked = dimensions.flatMap(({ name }) => (value[name] === undefined ? [] : [value[name]]));
  return (
    <>
      <Dialog.Body>
        <KeyPicker asset={asset} dimensions={dimensions} timezone={timezone} value={value} onChange={setValue} />
      </Dialog.Body>
      <DialogButtons
        disabled={picked.length < dimensions.length}
        onCancel={onClose}
        onGo={() => setSelection(joinKey(picked))}
      >
        Next: see the plan
      </DialogButtons>
    </>
  );
};

/** Runs one partition: pick its key among the valid ones, see the plan, go. */
export const RunPartitionDialog = ({ asset, open, onClose }: { readonly asset: string } & Shown) => (
  <ActionDialog open={open} onClose={onClose} title={`Run a partition of ${asset}`}>
    <Steps asset={asset} onClose={onClose} />
  </ActionDialog>
);

/** The button that opens the dialog. */
export const RunPartitionButton = ({ asset }: { readonly asset: string }) => {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button size="xs" variant="outline" onClick={() => setOpen(true)}>
        Run a partition…
      </Button>
      <RunPartitionDialog asset={asset} open={open} onClose={() => setOpen(false)} />
    </>
  );
};
