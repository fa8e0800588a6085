import createClient, { type Middleware } from "openapi-fetch";
import createHooks from "openapi-react-query";

import { restPath } from "./base";
import { Problem } from "./problem";
import type { paths } from "./schema";
import { login } from "./session";

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** What a refusal says; a session that is over leads to the login. */
export const refused = async (response: Response): Promise<Problem> => {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  if (response.status === 401) login();
  if (!isObject(body)) return new Problem(response.status, {});
  // What stands before our API may answer in another form, such as {"detail": [...]}
  return new Problem(response.status, typeof (body.detail ?? "") === "string" ? body : {});
};

/** Has each answer that is no success thrown. */
const refusals: Middleware = {
  async onResponse({ response }) {
    if (response.ok || response.status === 304) return undefined;
    throw await refused(response);
  },
  onError({ error }) {
    return error instanceof DOMException && error.name === "AbortError" ? error : new Problem(0, {});
  },
};

/** The paths of the document, where each answer that is no success is the `Problem` that is thrown. */
type Refused<Operation> = Operation extends { responses: infer Answers }
  ? Omit<Operation, "responses"> & {
      responses: { [Status in keyof Answers]: Status extends 200 ? Answers[Status] : { content: { "*/*": Problem } } };
    }
  : Operation;
type Paths = { [Path in keyof paths]: { [Part in keyof paths[Path]]: Refused<paths[Path][Part]> } };

/** Asks our REST API: `client.GET("/api/v1/assets", …)`; what is refused is thrown as a `Problem`. */
export const client = createClient<Paths>({
  baseUrl: restPath(),
  headers: { "X-Requested-With": "partitions" },
  fetch: (request) => fetch(request), // that of the page as it is then
});
client.use(refusals);

/** The same as hooks: `rest.useQuery("get", "/api/v1/assets", …)`. */
export const rest = createHooks(client);
