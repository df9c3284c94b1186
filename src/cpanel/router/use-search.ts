import { useCallback } from "react";
import { usePanel } from "../use-panel.js";
import { useRoute } from "./use-route.js";

/**
 * Returns a value from the query of the page's URL, and a function that changes the value. An empty text removes the value from the URL.
 */
export function useSearch(name: string): readonly [string, (value: string) => void] {
  const { router } = usePanel();
  const value = useRoute().search.get(name) ?? "";
  const change = useCallback(
    (text: string) => {
      const search = new URLSearchParams(router.route.get().search);
      if (text === "") search.delete(name);
      else search.set(name, text);
      router.setSearch(search);
    },
    [router, name],
  );
  return [value, change];
}
