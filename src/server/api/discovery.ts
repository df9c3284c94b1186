import type { Config } from "../config/config.js";
import type { ResourceHandlers } from "../http/handler.js";
import { packageVersion } from "../package-root.js";
import { createOpenApi } from "../../shared/openapi.js";
import { docsPage } from "../http/swagger-ui.js";

/** `instanceId` is undefined without a primary. */
export function createDiscoveryHandlers(
  { apiBase, publicUrl }: Pick<Config, "apiBase" | "publicUrl">,
  instanceId: string | undefined,
): ResourceHandlers<"discovery"> {
  const further = { ...(instanceId !== undefined && { instance: instanceId }), ...(publicUrl !== undefined && { apps: publicUrl }) };
  return {
    runtime: () => ({ name: "runtimed", api: apiBase, version: packageVersion, cpanel: "/cpanel/", docs: `${apiBase}/docs`, ...further }),
  };
}

export function createDocumentationHandlers(apiBase: string): ResourceHandlers<"documentation"> {
  let document: ReturnType<typeof createOpenApi> | undefined;
  // Creates the OpenAPI document at the first request, because few clients request it and its creation takes as long as the opening of all
  // services.
  return { openapi: () => (document ??= createOpenApi({ apiBase, version: packageVersion })), page: () => docsPage };
}
