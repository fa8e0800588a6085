import { afterEach, expect, test } from "vitest";

import { basePath, restPath } from "../src/rest/base";

afterEach(() => {
  document.head.querySelector("base")?.remove(); // alone: files that follow have styles there
});

test("the address of the API follows the document's base", () => {
  const base = document.createElement("base");
  base.href = "http://localhost/team/airflow/";
  document.head.append(base);
  expect(basePath()).toBe("/team/airflow/");
  expect(restPath()).toBe("/team/airflow/asset-partitions");
});
