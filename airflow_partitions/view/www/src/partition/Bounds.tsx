import { Text } from "@chakra-ui/react";

import { browserZone } from "../grid/zone";
import { momentText } from "../requests/Moment";

const wall = (at: string): string => at.replace("T", " ").replace(/:00(?=[+Z-])/, " ");

/** The interval of a partition, in the zone of its asset and in the reader's own. */
export const Bounds = ({
  start,
  end,
  timezone,
}: {
  readonly start: string;
  readonly end: string;
  /** `undefined` as long as it is not known. */
  readonly timezone: string | null | undefined;
}) => (
  <>
    <Text>
      {wall(start)} up to {wall(end)}
      {timezone == null ? "" : ` (${timezone})`}
    </Text>
    {timezone === undefined || timezone === browserZone() ? null : (
      <Text color="fg.muted">
        {momentText(start)} up to {momentText(end)} (yours)
      </Text>
    )}
  </>
);
