import { useEffect, useState } from "react";

/** A value once it has stayed the same for a while: what is typed is not asked for letter by letter. */
export const useSettled = <T>(value: T, milliseconds = 350): T => {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return settled;
};
