import { memo } from "react";
import { Link } from "react-router-dom";

import { paths } from "../page/paths";
import { Mark } from "../states/Mark";
import { StateMark } from "../states/StateMark";
import { cellWords, pathOf, type Line, type TaskPartition } from "./lines";
import { lookOf, noRun } from "./taskState";

/** The cells of a row: which of them is reached by the tab key, and which are meant. */
type Cells = {
  /** Its number: 0 is that of the partitions themselves. */
  readonly row: number;
  readonly partitions: readonly TaskPartition[];
  /** The column that the tab key reaches; `null` where that is in another row. */
  readonly reached: number | null;
  /** Columns of partitions that are not meant. */
  readonly dim: readonly boolean[];
};

/** The partitions, each with its state and a link to its page. */
export const PartitionCells = memo(({ asset, row, partitions, reached, dim }: Cells & { readonly asset: string }) => (
  <>
    {partitions.map(({ key, state }, column) => (
      <div key={key} role="gridcell" style={{ opacity: dim[column] ? 0.2 : 1 }}>
        <Link
          to={paths.partition(asset, key)}
          data-cell={`${row}:${column}`}
          tabIndex={column === reached ? 0 : -1}
          aria-label={`partition ${key}, ${state}`}
          title={`${key}, ${state}`}
        >
          <StateMark state={state} label={null} size="100%" />
        </Link>
      </div>
    ))}
  </>
));
PartitionCells.displayName = "PartitionCells";

/** A task, partition by partition, each cell with a link to Airflow's own page of it. */
export const TaskCells = memo(({ line, row, partitions, reached, dim }: Cells & { readonly line: Line }) => (
  <>
    {partitions.map((partition, column) => {
      const cell = line.cells[column];
      const to = pathOf(line, column);
      const own = {
        "data-cell": `${row}:${column}`,
        tabIndex: column === reached ? 0 : -1,
        "aria-label": cellWords(line, partition, column),
      };
      const mark = <Mark look={cell == null ? noRun : lookOf(cell.state)} label={null} size="100%" />;
      return to === null ? (
        <div key={partition.key} role="gridcell" style={{ opacity: dim[column] ? 0.2 : 1 }} {...own}>
          {mark}
        </div>
      ) : (
        <div key={partition.key} role="gridcell" style={{ opacity: dim[column] ? 0.2 : 1 }}>
          <Link to={to} {...own}>
            {mark}
          </Link>
        </div>
      );
    })}
  </>
));
TaskCells.displayName = "TaskCells";
