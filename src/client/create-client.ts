import { createClient as createClientOf, type Client, type Transport } from "../shared/client.js";
import { contract } from "../shared/contract/index.js";

/** Returns the client of the whole API over a transport of the caller's. `apiBase` is the path of the API (default `/api`). */
export function createClient(transport: Transport, apiBase: string = "/api"): Client {
  return createClientOf(transport, apiBase, contract);
}
