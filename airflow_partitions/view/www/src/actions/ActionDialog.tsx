import { CloseButton, Dialog, Portal } from "@chakra-ui/react";
import type { ReactNode } from "react";

export type Shown = { readonly open: boolean; readonly onClose: () => void };

/** A dialog in Airflow's looks, which holds the keyboard until it is closed. */
export const ActionDialog = ({
  open,
  onClose,
  title,
  children,
}: Shown & { readonly title: string; readonly children: ReactNode }) => (
  <Dialog.Root
    open={open}
    onOpenChange={(change) => {
      if (!change.open) onClose();
    }}
    size={{ mdDown: "full", md: "lg" }}
    scrollBehavior="inside"
    lazyMount
    unmountOnExit
  >
    <Portal>
      <Dialog.Backdrop />
      <Dialog.Positioner>
        <Dialog.Content>
          <Dialog.Header pe={12}>
            <Dialog.Title overflowWrap="anywhere">{title}</Dialog.Title>
          </Dialog.Header>
          {children}
          <Dialog.CloseTrigger asChild>
            <CloseButton size="sm" aria-label="Close" />
          </Dialog.CloseTrigger>
        </Dialog.Content>
      </Dialog.Positioner>
    </Portal>
  </Dialog.Root>
);
