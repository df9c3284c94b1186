import { readFile } from "node:fs/promises";
import type { Middleware } from "koa";
import { ApiError } from "../../shared/api-error.js";
import { compiledFile } from "../package-root.js";
import type { CallState } from "./error-middleware.js";

/** Files of the documentation page with their media types. The build copies the files from swagger-ui-dist. */
const assetTypes: ReadonlyMap<string, string> = new Map([
  ["swagger-ui.css", "text/css; charset=utf-8"],
  ["swagger-ui-bundle.js", "text/javascript; charset=utf-8"],
  ["start.js", "text/javascript; charset=utf-8"],
]);

const startScript = `addEventListener("DOMContentLoaded", () => {
  SwaggerUIBundle({ url: "openapi.json", dom_id: "#docs", deepLinking: true, validatorUrl: null, tryItOutEnabled: false });
});
`;

/** The documentation page at `/docs`. The page refers to its files by relative paths, so it works with every base path of the API. */
export const docsPage = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>runtimed API</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="docs/swagger-ui.css" />
    <script src="docs/swagger-ui-bundle.js" defer></script>
    <script src="docs/start.js" defer></script>
  </head>
  <body>
    <main id="docs"></main>
  </body>
</html>
`;

/** Serves the files of the documentation page. The page loads nothing from other hosts. */
export function createDocsAssets(): Middleware {
  return async (context) => {
    (context.state as CallState).isRouted = true;
    const { asset } = (context as unknown as { params: { asset: string } }).params;
    const type = assetTypes.get(asset);
    if (type === undefined) throw new ApiError("NOT_FOUND", `The documentation has no file ${JSON.stringify(asset)}.`);
    context.set("Cache-Control", "public, max-age=3600");
    context.set("Content-Type", type);
    context.body = asset === "start.js" ? startScript : await readFile(compiledFile(`docs-ui/${asset}`));
  };
}
