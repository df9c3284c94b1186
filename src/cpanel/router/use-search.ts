import { useCallback } from "react";
import { usePanel } from "../use-panel.js";
import { useRoute } from "./use-route.js";

/** A value of the page's query, such as a filter, and the way to change it; the empty text leaves it out. */
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
