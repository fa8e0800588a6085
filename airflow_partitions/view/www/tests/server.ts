import { http, HttpResponse, type JsonBodyType } from "msw";
import { setupServer } from "msw/node";

/** What a test has the server answer, by method and path of our REST API or of Airflow's. */
export const server = setupServer();

/** Answers each such request, until the test is over, with what the function gives then; counts them. */
export const answers = (
  method: "get" | "post" | "patch",
  path: string,
  answer: (request: Request) => JsonBodyType,
  status = 200,
) => {
  const asked = { count: 0 };
  server.use(
    http[method](`*${path}`, ({ request }) => {
      asked.count += 1;
      return HttpResponse.json(answer(request), { status });
    }),
  );
  return asked;
};
