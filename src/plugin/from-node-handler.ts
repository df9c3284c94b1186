import type { IncomingMessage, ServerResponse } from "node:http";
import { toFetchResponse, toReqRes } from "fetch-to-node";

/** What `app.callback()` of Koa, an Express app, or any listener of node:http is. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Makes a web-standard handler of a listener of node:http: `routes: fromNodeHandler(koaApp.callback())`. */
export function fromNodeHandler(handler: NodeHandler): { fetch(request: Request): Promise<Response> } {
  return {
    async fetch(request) {
      const { req, res } = toReqRes(request);
      await handler(req, res);
      return await toFetchResponse(res);
    },
  };
}
