import { Text } from "ink";
import { useSyncExternalStore } from "react";
import { actionTable, type ActionId } from "../keymap.js";
import { useDashboard } from "../hooks/use-dashboard.js";
import { useSize } from "../hooks/use-size.js";

/** The keys that mean something now, as many as there is room for. */
export function Footer() {
  const { keymap, dispatcher } = useDashboard();
  const { columns } = useSize();
  const valid = useSyncExternalStore(dispatcher.subscribe, dispatcher.valid);
  const ids = (Object.keys(actionTable) as ActionId[]).filter((id) => valid.includes(id) && !("isUsual" in actionTable[id]));
  // The way to help and the way out are never left out.
  const last = ids.filter((id) => id === "help" || id === "quit").map((id) => hint(id));
  let room = columns - last.join("").length;
  const first = ids
    .filter((id) => id !== "help" && id !== "quit")
    .map((id) => hint(id))
    .filter((text) => (room -= text.length) >= 0);
  return (
    <Text dimColor wrap="truncate-end">
      {[...first, ...last].join("")}
    </Text>
  );

  function hint(id: ActionId): string {
    return `${keymap.keyOf(id)} ${actionTable[id].label}  `;
  }
}
