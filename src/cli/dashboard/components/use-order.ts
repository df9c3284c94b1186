import { useState } from "react";
import { useKeyScope } from "../keyboard/key-dispatcher.js";

/** Returns the current order of a list, first the first of the given orders. Registers the shortcut that selects the next order. */
export function useOrder<Order extends string>(orders: readonly [Order, ...Order[]]): Order {
  const [order, setOrder] = useState<Order>(orders[0]);
  const next = orders[(orders.indexOf(order) + 1) % orders.length] ?? orders[0];
  useKeyScope({ handlers: { "list.sort": () => setOrder(next) } });
  return order;
}

/** Returns a column heading that shows the order of the list if the list is sorted by this column: `↑` from low to high, or `↓`. */
export function orderedHeading(heading: string, isSorted: boolean, direction: "↑" | "↓"): string {
  return isSorted ? `${heading}${direction}` : heading;
}
