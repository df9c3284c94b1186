import type { IncomingMessage, ServerResponse } from "node:http";
import { toFetchResponse, toReqRes } from "fetch-to-node";

/** What `app.callback()` of Koa, an Express app, or any listener of node:http is. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Makes a web-standard handler of a listener of node:http: `routes: fromNodeHandler(koaApp.callback())`. */
export function fromNodeHandler(handler: NodeHandler): { fetch(request: Request): Promise<Response> } {
  return {
    async fetch(request) {
      const { req, res } = toReqRes(request);
      Object.defineProperty(req, "socket", { value: connectionOf(request), configurable: true });
      await handler(req, res);
      return await toFetchResponse(res);
    },
  };
}

/** What frameworks ask of a connection: whether it is encrypted, and who is at its other end. */
function connectionOf({ url, headers }: Request): object {
  const peer = headers.get("x-forwarded-for")?.split(",").at(-1)?.trim();
  return { encrypted: url.startsWith("https:"), remoteAddress: peer, destroyed: false, readable: true, writable: true };
}
