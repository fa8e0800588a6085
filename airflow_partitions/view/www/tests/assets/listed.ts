import type { Listed } from "../../src/assets/list";
import type { components } from "../../src/rest/schema";

type Answered = components["schemas"]["Asset"];

/** An asset as the server tells of it, with some things of its own. */
export const answered = (name: string, own: Partial<Answered> = {}): Answered => ({
  name,
  group: "asset",
  definition: {
    kind: "interval",
    text: "",
    timezone: "Europe/Berlin",
    dimensions: [],
    first: null,
    last: null,
    count: null,
    form: {},
  },
  producers: [name],
  consumers: [],
  upstream: [],
  downstream: [],
  tags: [],
  owners: [],
  paused: [],
  holds: {},
  absent: [],
  may_change: true,
  next: null,
  ...own,
});

/** An asset as the server tells of it alone. */
export const details = (name: string, own: Partial<Answered> = {}): components["schemas"]["AssetDetails"] => ({
  ...answered(name, own),
  example: null,
  sources: [],
});

/** An asset of the list. */
export const listed = (name: string, own: Partial<Omit<Listed, "name">> = {}): Listed => {
  const counts = own.counts ?? {};
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return { ...answered(name), total, counting: false, ...own, counts };
};
