import { useEffect } from "react";

/** Names a page in the browser's tab, before the name of the Airflow, which Airflow writes there at times of its own. */
export const useTitle = (title: string): void =>
  useEffect(() => {
    const start = `${title} - `;
    let host = document.title;
    const write = () => {
      if (document.title.startsWith(start)) return;
      host = document.title;
      document.title = start + host;
    };
    write();
    const observer = new MutationObserver(write);
    observer.observe(document.head, { childList: true, characterData: true, subtree: true });
    return () => {
      observer.disconnect();
      document.title = host;
    };
  }, [title]);
