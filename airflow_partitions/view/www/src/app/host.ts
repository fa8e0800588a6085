/** What of Airflow's page the view needs, by the name of each global and a member that only fitting versions have. */
const needs: Readonly<Record<string, string>> = {
  React: "use",
  ReactDOM: "createPortal",
  ReactJSXRuntime: "jsx",
  ReactRouterDOM: "useLocation",
  ChakraUI: "createToaster",
  EmotionReact: "keyframes",
};

const member = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (Reflect.get(value, name) as unknown) : undefined;

/** The globals that this Airflow does not share with its plugins, or in a version that does not fit. */
export const lacking = (page: object = globalThis): readonly string[] =>
  Object.entries(needs)
    .filter(([name, needed]) => member(member(page, name), needed) === undefined)
    .map(([name]) => name);
