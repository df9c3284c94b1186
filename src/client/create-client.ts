import { createClient as createClientOf, type Client, type Transport } from "../shared/client.js";
import { contract } from "../shared/contract/index.js";

/**
 * Returns a client for all operations of the API. `transport` sends the requests. `apiBase` is the base path of the API (default `/api`).
 */
export function createClient(transport: Transport, apiBase: string = "/api"): Client {
  return createClientOf(transport, apiBase, contract);
}
