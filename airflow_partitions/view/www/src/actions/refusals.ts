import { Problem } from "../rest/problem";

/** Kinds of refusals that are about the selection's text. */
const OF_SELECTION = ["selection", "invalid-key", "request-size"];

/** What is said at each field of a dialog, by the field's name in the request. */
export const atFields = (error: Error | null): Record<string, string> => {
  if (!(error instanceof Problem)) return {};
  const { mistakes = [], type = "", detail = error.message } = error.document;
  const fields = Object.fromEntries(
    mistakes.map((mistake) => [mistake.field.split(".")[1] ?? mistake.field, mistake.detail]),
  );
  return OF_SELECTION.some((kind) => type.endsWith(`:${kind}`)) ? { ...fields, select: detail } : fields;
};

/** Whether some field of the dialog shows what is wrong. */
export const isAtField = (error: Error, fields: readonly string[]): boolean =>
  Object.keys(atFields(error)).some((field) => fields.includes(field));
