import { Button, Dialog } from "@chakra-ui/react";
import type { ReactNode } from "react";

/** Ends a dialog: leave it, or go on. */
export const DialogButtons = ({
  children,
  disabled,
  loading = false,
  dangerous = false,
  onCancel,
  onGo,
}: {
  /** What going on does, in words. */
  readonly children: ReactNode;
  readonly disabled: boolean;
  readonly loading?: boolean;
  readonly dangerous?: boolean;
  readonly onCancel: () => void;
  readonly onGo: () => void;
}) => (
  <Dialog.Footer>
    <Button variant="outline" onClick={onCancel}>
      Cancel
    </Button>
    <Button colorPalette={dangerous ? "red" : "brand"} disabled={disabled} loading={loading} onClick={onGo}>
      {children}
    </Button>
  </Dialog.Footer>
);
