import type { ClientOf, Operations } from "../../shared/client.js";
import { usePanel } from "../use-panel.js";

/** Returns the typed client of some operations. Pass only those that are called, so that the schemas of the others need not load. */
export function useApi<Offered extends Operations>(operations: Offered): ClientOf<Offered> {
  return usePanel().connection.client(operations);
}
