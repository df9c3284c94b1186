import type { ClientOf, Operations } from "../../shared/client.js";
import { usePanel } from "../use-panel.js";

/** The typed client of some operations of the contract. Name only those that are called: the others then need not be loaded. */
export function useApi<Offered extends Operations>(operations: Offered): ClientOf<Offered> {
  return usePanel().connection.client(operations);
}
