import { cleanup, render, waitFor } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { useTitle } from "../../src/page/title";

afterEach(cleanup);

const Titled = ({ title }: { readonly title: string }) => {
  useTitle(title);
  return null;
};

test("a page names itself in the browser's tab, also after Airflow has written there, until one leaves", async () => {
  document.title = "Airflow";
  const { rerender, unmount } = render(<Titled title="flights" />);
  expect(document.title).toBe("flights - Airflow");
  document.title = "Airflow of the team";
  await waitFor(() => expect(document.title).toBe("flights - Airflow of the team"));
  rerender(<Titled title="Doctor" />);
  expect(document.title).toBe("Doctor - Airflow of the team");
  unmount();
  expect(document.title).toBe("Airflow of the team");
});
