import { Box, Stack } from "@chakra-ui/react";

import { LinesField, Tick, TextField } from "./fields";
import type { OptionTexts } from "./runOptions";

/** How the runs are to go; closed until one wants other than the usual. */
export const OptionsFields = ({
  texts,
  onChange,
  mistakes,
}: {
  readonly texts: OptionTexts;
  readonly onChange: (texts: OptionTexts) => void;
  readonly mistakes: Record<string, string>;
}) => (
  <Box as="details">
    <Box as="summary" cursor="pointer" fontSize="sm" fontWeight="medium" py={1}>
      Options of the runs
    </Box>
    <Stack gap={3} pt={2}>
      <TextField
        label="Runs at a time, at most"
        type="number"
        value={texts.concurrency}
        onChange={(concurrency) => onChange({ ...texts, concurrency })}
        mistake={mistakes.concurrency}
      />
      <Tick
        label="Begin with the newest partition"
        checked={texts.newestFirst}
        onChange={(newestFirst) => onChange({ ...texts, newestFirst })}
      />
      <Tick
        label="Stop at the first failure"
        checked={texts.stopAtFailure}
        onChange={(stopAtFailure) => onChange({ ...texts, stopAtFailure })}
      />
      <TextField
        label="Label"
        help="In the note of every run"
        value={texts.label}
        onChange={(label) => onChange({ ...texts, label })}
        mistake={mistakes.label}
      />
      <LinesField
        label="Configuration (JSON)"
        help="The conf of every run"
        code
        value={texts.conf}
        onChange={(conf) => onChange({ ...texts, conf })}
        mistake={mistakes.conf}
      />
    </Stack>
  </Box>
);
