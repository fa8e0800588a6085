import { afterEach, expect, test, vi } from "vitest";

import { login } from "../../src/rest/session";

afterEach(() => window.sessionStorage.clear());

test("a session that is over leads to the login, but not again and again", () => {
  const replace = vi.spyOn(window.location, "replace").mockImplementation(() => undefined);
  login(1_000_000);
  login(1_005_000);
  expect(replace).toHaveBeenCalledTimes(1);
  expect(replace.mock.calls[0]?.[0]).toMatch(/\/api\/v2\/auth\/login\?next=/);
  login(1_100_000);
  expect(replace).toHaveBeenCalledTimes(2);
});
