import { loginPath } from "./base";

/** When the login was last asked for, so that a login which does not help is not asked for again and again. */
const LAST = "partitions.login";
const PAUSE = 60_000;

/** Leads to Airflow's login, which comes back to this page; not twice within a minute. */
export const login = (now = Date.now()): void => {
  const last = Number(window.sessionStorage.getItem(LAST) ?? 0);
  if (now - last < PAUSE) return;
  window.sessionStorage.setItem(LAST, String(now));
  window.location.replace(loginPath());
};
