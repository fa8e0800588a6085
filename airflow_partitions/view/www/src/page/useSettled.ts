import { useEffect, useState } from "react";

/**
 * A value once it has stayed the same for a while: what is typed is not asked for letter by letter.
 *
 * Until then the one before; at first another one, if that is given.
 */
export const useSettled = <T>(value: T, before: T = value, milliseconds = 350): T => {
  const [settled, setSettled] = useState(before);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return settled;
};
