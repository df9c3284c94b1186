import { useState } from "react";
import { useKeyScope } from "../keyboard/key-dispatcher.js";

/**
 * Returns the current order of a list, which is initially the first element of `orders`. Registers the shortcut that selects the next
 * order.
 */
export function useOrder<Order extends string>(orders: readonly [Order, ...Order[]]): Order {
  const [order, setOrder] = useState<Order>(orders[0]);
  const next = orders[(orders.indexOf(order) + 1) % orders.length] ?? orders[0];
  useKeyScope({ handlers: { "list.sort": () => setOrder(next) } });
  return order;
}

/** Returns the heading of a column. If the list is sorted by this column, the heading ends with `↑` (ascending) or `↓` (descending). */
export function orderedHeading(heading: string, isSorted: boolean, direction: "↑" | "↓"): string {
  return isSorted ? `${heading}${direction}` : heading;
}
