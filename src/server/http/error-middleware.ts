import type { Context, Middleware } from "koa";
import { ApiError, type ErrorBody } from "../../shared/api-error.js";
import type { Principal } from "../../shared/contract/principal.js";
import { hasSeveralSessionCookies } from "../access/credentials.js";
import { errorHeaders, toApiError } from "../web/error-response.js";
import type { Log } from "../log/log.js";
import { discardLeftoverBody } from "./request-body.js";
import { requestIdOf } from "./request-id.js";
import { clearSessionCookies } from "./session-cookie.js";

/** Data that the middleware of one call shares in `context.state`. */
export interface CallState {
  requestId: string;
  /** The principal that makes the call. */
  principal?: Principal;
  /** The parsed body, or the parsed fields of a form. */
  input?: unknown;
  /** The result of the handler. */
  result?: unknown;
  /** Called when this daemon has applied the newest changes of other daemons, before the handler is called once more. */
  onNewestChanges?: () => void;
  /** True if the path and method of the request belong to an operation of the API. */
  isRouted?: boolean;
}

/**
 * Outermost middleware of the API. Sets the request id, sends error bodies, responds to unknown paths and methods with 404 and 405, and
 * writes one log entry per call.
 */
export function errorMiddleware(options: {
  log: Log;
  allowedMethods: (context: Context) => string[];
  isStopping: () => boolean;
  /** Receives the error of each call that failed with a status of 500 or more. */
  onFailure: (error: ApiError) => void;
}): Middleware {
  return async (context, next) => {
    const state = context.state as CallState;
    const startedAt = performance.now();
    state.requestId = requestIdOf(context.req);
    const { res: response } = context;
    response.setHeader("X-Request-Id", state.requestId);
    response.setHeader("Cache-Control", "no-store");
    response.setHeader("X-Content-Type-Options", "nosniff");
    try {
      await next();
      if (!state.isRouted) sendUnrouted(context, options.allowedMethods(context));
    } catch (cause) {
      sendRefusal(context, cause, options);
    }
    discardLeftoverBody(context.req, context.res);
    logCall(context, options.log, performance.now() - startedAt);
  };
}

function sendUnrouted(context: Context, allowed: string[]): void {
  if (allowed.length === 0)
    throw new ApiError("NOT_FOUND", `Nothing is served at ${context.path}. GET /.well-known/runtime returns the path of the API.`);
  context.set("Allow", allowed.join(", "));
  if (context.method !== "OPTIONS")
    throw new ApiError("METHOD_NOT_ALLOWED", `${context.path} accepts ${allowed.join(", ")}, not ${context.method}.`);
  context.status = 204;
}

function sendRefusal(
  context: Context,
  cause: unknown,
  { log, isStopping, onFailure }: { readonly log: Log; readonly isStopping: () => boolean; readonly onFailure: (error: ApiError) => void },
): void {
  const { principal } = context.state as CallState;
  const error = toApiError(cause);
  context.status = error.status;
  context.set(errorHeaders(error));
  // Deletes session cookies that a page of a worker could have set. With several session cookies, the next sign-in would fail too.
  if (error.status === 401 && hasSeveralSessionCookies(context.req.headers)) context.set("Set-Cookie", clearSessionCookies(context.req));
  context.body = JSON.stringify(visibleBody(error, principal));
  if (error.status < 500) return;
  onFailure(error);
  // A stopping daemon rejects readiness checks and new streams. The operator has nothing to repair.
  const level = error.code === "NOT_READY" && isStopping() ? "info" : "error";
  log[level]({ requestId: (context.state as CallState).requestId, code: error.code, err: error.cause ?? error }, "the call failed");
}

/**
 * Returns the body of an error. If the caller is not allowed to read the keys of all namespaces, omits the list of changes that the primary
 * lacks.
 */
function visibleBody(error: ApiError, principal: Principal | undefined): ErrorBody {
  const readsIndex = principal?.namespaces.includes("*") && principal.permissions.includes("keys:read");
  if (error.code !== "INDEX_DIVERGED" || readsIndex) return error.toBody();
  return new ApiError(error.code, error.message).toBody();
}

/** Logs each call that can change data at level info, and each read at level debug. */
function logCall(context: Context, log: Log, elapsedMs: number): void {
  const { requestId, principal } = context.state as CallState;
  const level = context.method === "GET" || context.method === "HEAD" || context.method === "OPTIONS" ? "debug" : "info";
  if (!log.isLevelEnabled(level)) return;
  log[level](
    {
      requestId,
      principalId: principal?.id,
      method: context.method,
      path: context.path,
      status: context.status,
      elapsedMs: Math.round(elapsedMs),
    },
    "call",
  );
}
