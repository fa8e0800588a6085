import type { UseQueryResult } from "@tanstack/react-query";
import { useState } from "react";

/** What a query has come to, as far as it tells of trouble. */
export type Asked = Pick<UseQueryResult, "data" | "error" | "failureReason">;

/**
 * Why a query has no answer; `null` as long as it is the first time that it is asked, or has answered.
 *
 * Who asks again and again forgets with each try why the last one failed: it is kept here until there is an answer.
 */
export const useTrouble = ({ data, error, failureReason }: Asked): Error | null => {
  const [last, setLast] = useState<Error | null>(null);
  if (data !== undefined) {
    if (last !== null) setLast(null);
    return error;
  }
  const reason = error ?? failureReason;
  if (reason !== null && reason !== last) setLast(reason);
  return reason ?? last;
};
