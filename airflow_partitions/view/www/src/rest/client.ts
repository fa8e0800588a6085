import createClient, { type Middleware } from "openapi-fetch";

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

/** Asks our REST API: `client().GET("/api/v1/assets", …)`; what is refused is thrown as a `Problem`. */
export const client = () => {
  const rest = createClient<paths>({ baseUrl: restPath(), headers: { "X-Requested-With": "partitions" } });
  rest.use(refusals);
  return rest;
};
