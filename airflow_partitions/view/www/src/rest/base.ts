/** Where Airflow is below its host, as its document says: "/" or "/team/airflow/". */
export const basePath = (): string => new URL(document.baseURI).pathname.replace(/[^/]*$/, "");

/** The address of our REST API, whose paths begin with its version. */
export const restPath = (): string => `${basePath()}asset-partitions`;

/** The address of Airflow's login, which comes back to where one is. */
export const loginPath = (): string =>
  `${basePath()}api/v2/auth/login?next=${encodeURIComponent(window.location.href)}`;
