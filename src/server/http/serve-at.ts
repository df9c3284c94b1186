import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError } from "../../shared/api-error.js";
import { sendError } from "../web/error-response.js";
import { schemeOf } from "./forwarded-proto.js";
import type { HttpServerOptions } from "./server.js";
import type { PanelHost } from "../web/panel-host.js";
import { requestIdOf } from "./request-id.js";
import { couldBePanel, isPanel, pathOf } from "../web/reserved-paths.js";

type Serve = HttpServerOptions["serve"];

/** Content for requests outside the API that one listener serves. */
export type ListenerContent = "panel" | "workers" | "panel and workers";

const panelPath = "/cpanel/";

/**
 * Returns the handler for requests outside the API on one listener. If a panel host is configured, this host serves only the panel. The
 * other hosts redirect panel requests to the panel host.
 */
export function serveAt(content: ListenerContent, { panelHost, serve }: { panelHost: PanelHost | undefined; serve: Serve }): Serve {
  if (content === "panel and workers" && panelHost === undefined) return serve;
  const [hasPanel, hasWorkers] = [content !== "workers", content !== "panel"];
  return (exchange) => {
    const { request, response, requestId, hostTarget } = exchange;
    if (hostTarget) {
      if (hasWorkers) serve(exchange);
      else sendNotServedHere(request, response, requestId);
      return;
    }
    const { url = "/", headers } = request;
    const path = pathOf(url);
    const isPanelHost = panelHost?.matches(headers.host) ?? false;
    if (couldBePanel(path)) {
      if (!hasPanel || !isPanel(path)) sendNotServedHere(request, response, requestId);
      else if (panelHost && !isPanelHost) redirect(request, response, { panelHost, to: url, requestId });
      else serve(exchange);
    } else if (panelHost && isPanelHost && hasPanel && path === "/") redirect(request, response, { panelHost, to: panelPath, requestId });
    else if (!hasWorkers || panelHost?.hasNameOf(headers.host)) sendNotServedHere(request, response, requestId);
    else serve(exchange);
  };
}

export function sendNotServedHere(request: IncomingMessage, response: ServerResponse, requestId = requestIdOf(request)): void {
  sendError(response, new ApiError("NOT_FOUND", "Nothing is served at this path on this listener."), requestId);
}

function redirect(
  request: IncomingMessage,
  response: ServerResponse,
  { panelHost, to, requestId }: { panelHost: PanelHost; to: string; requestId: string },
): void {
  const location = panelHost.urlOf(to, { scheme: schemeOf(request), host: request.headers.host });
  response.writeHead(308, { location, "cache-control": "no-store", "content-length": 0, "x-request-id": requestId }).end();
}
