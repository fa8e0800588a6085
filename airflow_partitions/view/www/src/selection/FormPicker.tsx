import { NativeSelect } from "@chakra-ui/react";

import { isForm, type Form } from "./usePicture";

/** In what the partitions are shown; a calendar and their tasks are offered where these say something.
 *
 * It is as wide with it as without, for that is known later. */
export const FormPicker = ({
  form,
  daily,
  several,
  onForm,
}: {
  readonly form: Form | null;
  readonly daily: boolean;
  /** Whether a Dag that makes them has more than one task. */
  readonly several: boolean;
  readonly onForm: (form: Form | null) => void;
}) => (
  <NativeSelect.Root size="xs" width="36">
    <NativeSelect.Field
      aria-label="Show as"
      value={form ?? ""}
      onChange={({ target }) => onForm(isForm(target.value) ? target.value : null)}
    >
      <option value="">Show as picture</option>
      {daily || form === "calendar" ? <option value="calendar">Show as calendar</option> : null}
      {several || form === "tasks" ? <option value="tasks">Show tasks</option> : null}
      <option value="table">Show as table</option>
    </NativeSelect.Field>
    <NativeSelect.Indicator />
  </NativeSelect.Root>
);
