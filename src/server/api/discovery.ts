import type { Config } from "../config/config.js";
import type { ResourceHandlers } from "../http/handler.js";
import { proofOf, type OwnInstance } from "../instances/own-instance.js";
import { packageVersion } from "../package-root.js";
import { createOpenApi } from "../../shared/openapi.js";
import { docsPage } from "../http/swagger-ui.js";

/** `own` identifies this daemon among the daemons with the same primary. Undefined without a primary. */
export function createDiscoveryHandlers(
  { apiBase, publicUrl }: Pick<Config, "apiBase" | "publicUrl">,
  own: Pick<OwnInstance, "id" | "run"> | undefined,
): ResourceHandlers<"discovery"> {
  const further = { ...(own && { instance: own.id }), ...(publicUrl !== undefined && { apps: publicUrl }) };
  return {
    runtime: ({ query: { challenge } }) => ({
      name: "runtimed",
      api: apiBase,
      version: packageVersion,
      cpanel: "/cpanel/",
      docs: `${apiBase}/docs`,
      ...further,
      ...(own && challenge !== undefined && { proof: proofOf(own, challenge) }),
    }),
  };
}

export function createDocumentationHandlers(apiBase: string): ResourceHandlers<"documentation"> {
  let document: ReturnType<typeof createOpenApi> | undefined;
  // Creates the OpenAPI document at the first request, because few clients request it and its creation takes as long as the opening of all
  // services.
  return { openapi: () => (document ??= createOpenApi({ apiBase, version: packageVersion })), page: () => docsPage };
}
