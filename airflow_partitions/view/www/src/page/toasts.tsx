import { createToaster, Portal, Stack, Toast, Toaster } from "@chakra-ui/react";

let only: ReturnType<typeof createToaster> | undefined;

/** What was done, told at the edge of the page for some seconds; created late, as an old Airflow does not share it. */
const toaster = () => (only ??= createToaster({ placement: "bottom-end", pauseOnPageIdle: true }));

/** Tell what was done; *undo* takes it back, where there is such a thing. */
export const tell = (title: string, undo?: () => void): void => {
  toaster().create({
    title,
    type: "success",
    duration: undo === undefined ? 6_000 : 15_000,
    closable: true,
    ...(undo === undefined ? {} : { action: { label: "Undo", onClick: undo } }),
  });
};

/** Tell that something which was asked for by the way could not be done. */
export const tellRefusal = (error: Error): void => {
  toaster().create({ title: "Not done", description: error.message, type: "error", duration: 15_000, closable: true });
};

/** The place of these words; once on each page. */
export const Toasts = () => (
  <Portal>
    <Toaster toaster={toaster()} insetInline={{ mdDown: "4" }}>
      {(toast) => (
        <Toast.Root width={{ md: "sm" }}>
          <Toast.Indicator />
          <Stack gap={1} flex={1} maxWidth="100%">
            <Toast.Title overflowWrap="anywhere">{toast.title}</Toast.Title>
            {toast.description === undefined ? null : <Toast.Description>{toast.description}</Toast.Description>}
          </Stack>
          {toast.action === undefined ? null : <Toast.ActionTrigger>{toast.action.label}</Toast.ActionTrigger>}
          <Toast.CloseTrigger />
        </Toast.Root>
      )}
    </Toaster>
  </Portal>
);
