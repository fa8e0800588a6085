const form = new Intl.DateTimeFormat("en-CA", {
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
  timeZoneName: "short",
});

/** A moment in the reader's own zone, such as `2013-03-01 06:03:20 GMT+1`. */
export const momentText = (at: string): string => form.format(new Date(at)).replace(",", "");

/** A moment in the reader's own zone; as it was told when pointed at. */
export const Moment = ({ at }: { readonly at: string }) => (
  <time dateTime={at} title={at}>
    {momentText(at)}
  </time>
);
