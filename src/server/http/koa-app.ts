import { Router } from "@koa/router";
import Koa, { type Context, type Middleware } from "koa";
import { operations } from "../../shared/contract/index.js";
import type { ApiError } from "../../shared/api-error.js";
import type { EndpointDefinition } from "../../shared/contract/endpoint.js";
import type { Principals } from "../access/principals.js";
import type { Config } from "../config/config.js";
import type { Log } from "../log/log.js";
import { errorMiddleware } from "./error-middleware.js";
import { createDocsAssets } from "./swagger-ui.js";
import type { EventStreams } from "./event-streams.js";
import type { AnyHandler, Handlers } from "./handler.js";
import type { NewestChanges } from "./newest-changes.js";
import { createOperation } from "./operation.js";
import { recordChanges, type ChangesPort, type KeysPort } from "./audit-middleware.js";
import compress from "koa-compress";
import { brotliOptions, gzipOptions, leastCompressedBytes, preferredCoding } from "../web/content-coding.js";

interface ApiAppOptions {
  readonly handlers: Handlers;
  readonly principals: Principals;
  readonly config: Config;
  /** Folder that contains uploads until their installation. */
  readonly spoolDirectory: string;
  readonly streams: EventStreams;
  /** Undefined without a primary. */
  readonly newestChanges: NewestChanges | undefined;
  readonly changes: ChangesPort;
  readonly keys: KeysPort;
  readonly isStopping: () => boolean;
  /** Receives the error of each call that failed with a status of 500 or more. */
  readonly onFailure: (error: ApiError) => void;
  readonly log: Log;
}

/** Creates the API as a Koa app, with one route for each operation of the contract. */
export function createApiApp(options: ApiAppOptions): Koa {
  const { apiBase } = options.config;
  const router = new Router({ sensitive: true, strict: true });
  for (const { id, endpoint } of operations) {
    const handler = handlerOf(options.handlers, id);
    const operation = createOperation({ ...options, endpoint, handler });
    const layers = endpoint.change === undefined ? [operation] : [recordChanges(endpoint.change, options), operation];
    router.register(pathOf(endpoint, apiBase), [endpoint.method.toLowerCase()], layers);
  }
  router.get(`${apiBase}/docs/:asset`, createDocsAssets());
  const app = new Koa();
  app.use(errorMiddleware({ ...options, allowedMethods: (context) => allowedMethods(router, context) }));
  app.use(compressResponses());
  app.use(router.routes());
  return app;
}

/** Returns the HTTP methods of the operations with this path. Returns an empty list for an unknown path. */
function allowedMethods(router: Router, { path, method }: Context): string[] {
  return [...new Set(router.match(path, method).path.flatMap((layer) => layer.methods))].toSorted();
}

function handlerOf(handlers: Handlers, id: string): AnyHandler {
  const [resource, operation] = id.split(".") as [keyof Handlers, string];
  const handler = (handlers[resource] as unknown as Record<string, AnyHandler>)[operation];
  if (!handler) throw new Error(`the operation ${id} has no handler`);
  return handler;
}

function pathOf(endpoint: EndpointDefinition, apiBase: string): string {
  return endpoint.atOrigin ? endpoint.path : apiBase + endpoint.path;
}

/**
 * Compresses text responses of the API with brotli or gzip. Downloads and event streams are not compressed, because these do not pass
 * through Koa.
 */
function compressResponses(): Middleware {
  const compressResponse = compress({ threshold: leastCompressedBytes, br: brotliOptions, gzip: gzipOptions, zstd: false, deflate: false });
  return async (context, next) => {
    await compressResponse(context, next);
    const isShort = context.length === undefined || context.length < leastCompressedBytes;
    if (context.method !== "HEAD" || isShort || !preferredCoding(context.req.headers["accept-encoding"])) return;
    // Removes Content-Length from the response to HEAD, because the length of the compressed body is unknown until the body is compressed.
    context.remove("Content-Length");
    context.respond = false;
    context.res.end();
  };
}
