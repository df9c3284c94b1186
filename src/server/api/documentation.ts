import { createOpenApi } from "../../shared/openapi.js";
import { docsPage } from "../http/docs-assets.js";
import type { ResourceHandlers } from "../http/handler.js";
import { packageVersion } from "../package-root.js";

export function createDocumentationHandlers(apiBase: string): ResourceHandlers<"documentation"> {
  const document = createOpenApi({ apiBase, version: packageVersion });
  return { openapi: () => document, page: () => docsPage };
}
