import { cleanup, configure } from "@testing-library/react";
import { afterAll, afterEach, beforeAll } from "vitest";

import { server } from "./server";

// For each file of tests: the modules that it imports are shared with the others, this one is not.

// A busy machine may take some seconds for what takes milliseconds.
configure({ asyncUtilTimeout: 20_000 });

beforeAll(() => {
  server.listen({ onUnhandledRequest: "error" });
});
afterEach(cleanup);
afterEach(() => {
  server.resetHandlers();
});
afterAll(() => {
  server.close();
});
