import type { IncomingMessage, ServerResponse } from "node:http";
import { toFetchResponse, toReqRes } from "fetch-to-node";

/** A request listener of node:http, such as an Express app or the result of Koa's `app.callback()`. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Converts a node:http listener to a fetch handler, as in `routes: fromNodeHandler(koaApp.callback())`. */
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

/** Returns the properties of a socket that frameworks read: `encrypted` and the client's address. */
function connectionOf({ url, headers }: Request): object {
  const peer = headers.get("x-forwarded-for")?.split(",").at(-1)?.trim();
  return { encrypted: url.startsWith("https:"), remoteAddress: peer, destroyed: false, readable: true, writable: true };
}
