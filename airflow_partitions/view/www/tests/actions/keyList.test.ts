import { expect, test } from "vitest";

import { keyList, withPlaces } from "../../src/actions/keyList";

test("several lines are keys; blank ones and comments are none, and each keeps its line", () => {
  const text = "# late files\r\n2013-02-08\r\n\r\n  2013-02-09 \na, b\n";
  expect(keyList(text)?.keys).toEqual(["2013-02-08", "2013-02-09", "a, b"]);
  expect(withPlaces("keys[0]: no; keys[2]: neither", text)).toBe("line 2: no; line 5: neither");
});

test.each(["", "2013-02-08", "2013-02-08, 2013-02-09", "\n2013-02..2013-03\n"])("%j is a selection", (text) => {
  expect(keyList(text)).toBeNull();
  expect(withPlaces("keys[0]: no", text)).toBe("keys[0]: no");
});

test("one line that is too long for a selection is a list, unless it says more than keys", () => {
  const keys = Array.from({ length: 300 }, (_, number) => `key-${number}`);
  const text = keys.join(", ");
  expect(keyList(text)?.keys).toEqual(keys);
  expect(withPlaces("keys[299]: no", text)).toBe("key 300: no");
  expect(keyList(`${text} & airport = JFK`)).toBeNull();
});

test("a hundred thousand keys are read", () => {
  const text = Array.from({ length: 100_000 }, (_, number) => `key-${number}`).join("\n");
  expect(keyList(text)?.keys.length).toBe(100_000);
});
