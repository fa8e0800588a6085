/** The text of each dimension in the text of a key: parts are joined by |, and \ keeps what follows it. */
export const splitKey = (key: string): string[] => {
  const parts: string[] = [];
  let part = "";
  for (const [mark] of key.matchAll(/\\.|[^\\]/gsu)) {
    if (mark === "|") {
      parts.push(part);
      part = "";
    } else part += mark.length > 1 && mark.startsWith("\\") ? mark.slice(1) : mark;
  }
  return [...parts, part];
};

/** The text of a key whose dimensions have these texts. */
export const joinKey = (parts: readonly string[]): string =>
  parts.length === 1 ? (parts[0] ?? "") : parts.map((part) => part.replaceAll(/[\\|]/g, String.raw`\$&`)).join("|");
