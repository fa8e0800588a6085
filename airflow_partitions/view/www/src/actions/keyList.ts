import { number } from "../page/amounts";

/** The longest text that a field of the REST takes. */
export const LONGEST = 2_000;

/** Keys that somebody has listed, and where each of them stands, in words. */
export type KeyList = { readonly keys: readonly string[]; readonly place: (index: number) => string };

/** What makes a line more than keys with commas between. */
const GRAMMAR = /[;&="]|\.\.|\sin\s/;

/**
 * The keys of a pasted list; `null` for a selection.
 *
 * Of several lines each is a key; blank ones, and those that begin with #, are none. One line is a selection, whose keys
 * may have commas between them; where it is too long for one, these are a list, too.
 */
export const keyList = (text: string): KeyList | null => {
  const lines = text.split(/\r\n|\r|\n/).map((line) => line.trim());
  const numbers = lines.flatMap((line, index) => (line === "" || line.startsWith("#") ? [] : [index]));
  const [only = 0] = numbers;
  if (numbers.length > 1) {
    return {
      keys: numbers.map((index) => lines[index] ?? ""),
      place: (index) => `line ${number((numbers[index] ?? 0) + 1)}`,
    };
  }
  const line = lines[only] ?? "";
  if (line.length <= LONGEST || GRAMMAR.test(line)) return null;
  const keys = line
    .split(",")
    .map((key) => key.trim())
    .filter((key) => key !== "");
  return { keys, place: (index) => `key ${number(index + 1)}` };
};

/** What the server says of keys, with their lines for their places in the list. */
export const withPlaces = (words: string, text: string): string => {
  const list = keyList(text);
  return list === null ? words : words.replaceAll(/\bkeys\[(\d+)\]/g, (_, index: string) => list.place(Number(index)));
};
