import { number } from "../page/amounts";
import type { components } from "../rest/schema";

/** How the runs of a request are to go. */
export type RunOptions = components["schemas"]["RunOptions"];

/** The same as it stands in the fields of a dialog. */
export type OptionTexts = {
  readonly concurrency: string;
  readonly newestFirst: boolean;
  readonly stopAtFailure: boolean;
  readonly label: string;
  readonly conf: string;
  readonly whilePaused: boolean;
};

export const USUAL: OptionTexts = {
  concurrency: String(CONCURRENCY.usual),
  newestFirst: false,
  stopAtFailure: false,
  label: "",
  conf: "",
  whilePaused: false,
};

const confOf = (text: string): Record<string, unknown> | string => {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : 'This is JSON, but no object; expected names with values, such as {"limit": 10}';
  } catch (error) {
    return `This is no JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
};

/** The options that some texts say, and what is wrong with a text, by the name of its field. */
export const readOptions = (texts: OptionTexts): { options: RunOptions; mistakes: Record<string, string> } => {
  const concurrency = Number(texts.concurrency);
  const conf = confOf(texts.conf);
  return {
    options: {
      concurrency,
      newest_first: texts.newestFirst,
      stop_at_failure: texts.stopAtFailure,
      label: texts.label,
      conf: typeof conf === "string" ? {} : conf,
      while_paused: texts.whilePaused,
    },
    mistakes: {
      ...(Number.isInteger(concurrency) && concurrency >= CONCURRENCY.minimum && concurrency <= CONCURRENCY.maximum
        ? {}
        : {
            concurrency: `Expected a whole number of runs from ${number(CONCURRENCY.minimum)} to ${number(CONCURRENCY.maximum)}`,
          }),
      ...(typeof conf === "string" ? { conf } : {}),
    },
  };
};
