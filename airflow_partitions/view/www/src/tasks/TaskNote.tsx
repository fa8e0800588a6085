import { HStack, Text } from "@chakra-ui/react";

import { Note, type NotePlace } from "../grid/Note";
import { Moment } from "../requests/Moment";
import { Mark } from "../states/Mark";
import { details, type Line, type TaskPartition } from "./lines";
import { lookOf, noRun, stateWords } from "./taskState";

/** What became of a task in the newest run of a partition, beside its cell. */
export const TaskNote = ({
  line,
  partition,
  column,
  ...place
}: NotePlace & {
  readonly line: Line;
  readonly partition: TaskPartition;
  readonly column: number;
}) => {
  const cell = line.cells[column] ?? null;
  const run = line.runs[column];
  const look = cell === null ? noRun : lookOf(cell.state);
  return (
    <Note {...place}>
      <Text fontWeight="semibold" dir="auto" lineClamp={3} overflowWrap="anywhere">
        {line.task}
      </Text>
      <Text dir="auto" lineClamp={3} overflowWrap="anywhere">
        {partition.key}
      </Text>
      <HStack gap={2}>
        <Mark look={look} label={null} size="16px" />
        <Text>{cell === null ? "no run" : [stateWords(cell.state), ...details(cell)].join(", ")}</Text>
      </HStack>
      <Text color="fg.muted">{look.meaning}</Text>
      {cell?.began == null ? null : (
        <Text color="fg.muted" fontSize="xs">
          began <Moment at={cell.began} />
        </Text>
      )}
      {run == null ? null : (
        <Text color="fg.muted" fontSize="xs" lineClamp={2} overflowWrap="anywhere">
          run {run.run_id} of {line.dag}: {run.state}
        </Text>
      )}
    </Note>
  );
};
