import { Problem } from "../rest/problem";
import { withPlaces } from "./keyList";

/** Kinds of refusals that are about the selection's text. */
const OF_SELECTION = ["selection", "invalid-key", "request-size"];

/** The field of a dialog where a mistake in the request belongs, such as one at `body.keys.3`, and what is wrong. */
const atField = ({ field, detail }: { readonly field: string; readonly detail: string }, text: string) => {
  const [, name = field, place] = field.split(".");
  if (name !== "keys") return [name, detail] as const;
  return ["select", place === undefined ? detail : withPlaces(`keys[${place}]: ${detail}`, text)] as const;
};

/** What is said at each field of a dialog, by the field's name in the request; `text` is what stands for partitions. */
export const atFields = (error: Error | null, text = ""): Record<string, string> => {
  if (!(error instanceof Problem)) return {};
  const { mistakes = [], type = "", detail = error.message } = error.document;
  const fields = Object.fromEntries(mistakes.map((mistake) => atField(mistake, text)));
  return OF_SELECTION.some((kind) => type.endsWith(`:${kind}`))
    ? { ...fields, select: withPlaces(detail, text) }
    : fields;
};

/** Whether some field of the dialog shows what is wrong. */
export const isAtField = (error: Error, fields: readonly string[]): boolean =>
  Object.keys(atFields(error)).some((field) => fields.includes(field));
