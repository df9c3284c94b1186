import { createOpenApi } from "../../shared/openapi.js";
import { docsPage } from "../http/docs-assets.js";
import type { ResourceHandlers } from "../http/handler.js";
import { packageVersion } from "../package-root.js";

export function createDocumentationHandlers(apiBase: string): ResourceHandlers<"documentation"> {
  let document: ReturnType<typeof createOpenApi> | undefined;
  // Made when it is first asked for: that is seldom, and takes as long as opening the services.
  return { openapi: () => (document ??= createOpenApi({ apiBase, version: packageVersion })), page: () => docsPage };
}
