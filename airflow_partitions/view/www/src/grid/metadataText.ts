/** The most values that are shown in a row. */
const FEW = 3;

const isPlain = (value: unknown): boolean => ["string", "number", "boolean"].includes(typeof value);

/** What was kept with a key, in short: its first values that are no lists and no objects; empty if there is none. */
export const metadataText = (metadata: unknown): string => {
  if (isPlain(metadata)) return String(metadata);
  if (typeof metadata !== "object" || metadata === null) return "";
  const plain = Object.entries(metadata).filter(([, value]) => isPlain(value));
  const values = plain.map(([name, value]) => (Array.isArray(metadata) ? String(value) : `${name}: ${String(value)}`));
  const all = values.length <= FEW && values.length === Object.keys(metadata).length;
  return [...values.slice(0, FEW), ...(all ? [] : ["…"])].join(", ");
};
