import { useCallback, useState } from "react";

/** Of each name one value, several, or none. */
export type Values = Readonly<Record<string, string | readonly string[] | null>>;

/**
 * Puts values into the address, without the router; null takes one out.
 *
 * Airflow's page loads a plugin anew with each change that its router hears of: focus, and what is dragged, would go.
 */
export const putInAddress = (values: Values): URLSearchParams => {
  const address = new URL(window.location.href);
  for (const [name, value] of Object.entries(values)) {
    address.searchParams.delete(name);
    for (const one of typeof value === "string" ? [value] : (value ?? [])) address.searchParams.append(name, one);
  }
  if (address.href !== window.location.href) window.history.replaceState(window.history.state, "", address);
  return address.searchParams;
};

/** What the address says after its question mark, and what changes it there. */
export const useAddress = (): readonly [URLSearchParams, (values: Values) => void] => {
  const [parameters, setParameters] = useState(() => new URLSearchParams(window.location.search));
  const put = useCallback((values: Values) => setParameters(putInAddress(values)), []);
  return [parameters, put];
};
