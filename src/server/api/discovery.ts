import type { Config } from "../config/config.js";
import type { ResourceHandlers } from "../http/handler.js";
import { packageVersion } from "../package-root.js";

export function createDiscoveryHandlers({ apiBase, publicUrl }: Pick<Config, "apiBase" | "publicUrl">): ResourceHandlers<"discovery"> {
  const apps = publicUrl === undefined ? {} : { apps: publicUrl };
  return {
    runtime: () => ({ name: "runtimed", api: apiBase, version: packageVersion, cpanel: "/cpanel/", docs: `${apiBase}/docs`, ...apps }),
  };
}
