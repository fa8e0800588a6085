import { asQuery, type Partitions } from "./partitions";
import { usePlan } from "./usePlan";

/** The text of partitions for what takes no states: the exact list, as a plan has it. */
export const useSelectionText = (asset: string, partitions: Partitions) => {
  const chosen = (partitions.states ?? []).length > 0;
  const plan = usePlan({ asset, partitions, upstream: false }, chosen);
  if (!chosen) return { text: partitions.selection ?? asQuery(partitions).select, error: null };
  const steps = plan.data?.steps.filter(({ role }) => role === "asked");
  return { text: steps?.map(({ selection }) => selection).join("; "), error: plan.error };
};
