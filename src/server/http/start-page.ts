import type { Config } from "../config/config.js";
import type { HttpExchange } from "../web/http-exchange.js";
import { pathOf } from "../web/reserved-paths.js";

/** Returns true if a browser requests `/` on a host name of the daemon itself, where this path selects no worker. */
export function asksForStartPage({ request: { method, url = "", headers }, hostTarget }: HttpExchange): boolean {
  if (hostTarget) return false;
  return (method === "GET" || method === "HEAD") && pathOf(url) === "/" && (headers.accept?.includes("text/html") ?? false);
}

/**
 * Sends the start page of the daemon, which contains no names of workers. The page links to the panel only if all listeners serve the
 * panel.
 */
export function sendStartPage({ request, response, requestId }: HttpExchange, config: StartPageConfig): void {
  const body = startPage(config);
  response.writeHead(200, {
    "content-type": "text/html; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-cache",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-request-id": requestId,
  });
  response.end(request.method === "HEAD" ? undefined : body);
}

type StartPageConfig = Pick<Config, "apiBase" | "servesPanel" | "panelHost" | "adminListener">;

function startPage({ apiBase, servesPanel, panelHost, adminListener }: StartPageConfig): string {
  const isManagedHere = panelHost === undefined && adminListener === undefined;
  const links = isManagedHere
    ? [
        ...(servesPanel ? ['<li><a href="cpanel/">Control panel</a>: sign in with a key</li>'] : []),
        `<li><a href="${apiBase.slice(1)}/docs">API</a>: its documentation</li>`,
      ]
    : [];
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>runtimed</title>
    <style>
      :root { color-scheme: light dark; }
      body { font: 16px/1.6 system-ui, sans-serif; max-width: 40rem; margin: 15vh auto; padding: 0 1.5rem; }
    </style>
  </head>
  <body>
    <h1>This server runs workers</h1>
    <p>Each worker answers at its own path: <code>/NAME/</code>. Nothing answers at this one.</p>
    ${links.length > 0 ? `<ul>${links.join("")}</ul>` : ""}
  </body>
</html>
`;
}
