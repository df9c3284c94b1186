import type { ClientOf, Operations } from "../../shared/client.js";
import { usePanel } from "../use-panel.js";

/**
 * Returns a typed client for the operations. Callers pass only the operations that they use, so that the browser loads no other schemas.
 */
export function useApi<Offered extends Operations>(operations: Offered): ClientOf<Offered> {
  return usePanel().connection.client(operations);
}
