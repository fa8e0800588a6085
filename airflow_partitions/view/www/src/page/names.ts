import { useLocation } from "react-router-dom";

const decoded = (part = ""): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // typed by hand
  }
};

/** The asset and the partition that an address names: exactly, where the router takes a %2F in a name for a slash. */
export const names = (pathname: string): { readonly asset: string; readonly key: string } => {
  const [, asset, key] = /\/assets\/([^/]+)(?:\/partitions\/([^/]+))?/.exec(pathname) ?? [];
  return { asset: decoded(asset), key: decoded(key) };
};

/** The asset and the partition of this page. */
export const useNames = () => names(useLocation().pathname);
