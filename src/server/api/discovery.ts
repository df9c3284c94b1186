import type { ResourceHandlers } from "../http/handler.js";
import { packageVersion } from "../package-root.js";

export function createDiscoveryHandlers(apiBase: string): ResourceHandlers<"discovery"> {
  return { runtime: () => ({ name: "runtimed", api: apiBase, version: packageVersion, cpanel: "/cpanel/", docs: `${apiBase}/docs` }) };
}
