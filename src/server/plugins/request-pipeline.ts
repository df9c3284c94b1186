import type { IncomingMessage } from "node:http";
import type { AppInfo } from "../../plugin/index.js";
import { ApiError } from "../../shared/api-error.js";
import { sendError } from "../web/error-response.js";
import type { Log } from "../log/log.js";
import type { HttpExchange } from "../web/http-exchange.js";
import type { ActivePlugin } from "./plugin-instance.js";
import { respondWith, type ResponseOptions, hookFailed, interceptResponse } from "./send-response.js";
import type { AppChoice, AppFinder } from "./public-routes.js";
import { HandlerCalls } from "./handler-calls.js";
import type { PluginSet } from "./plugin-set.js";
import { pathOf, type ReservedPaths } from "../web/reserved-paths.js";
import { hookTimeLimitMs, withinTimeLimit, dropResponse, isRequest, isResponse, isThenable } from "./hooks.js";
import { normalTarget, type PluginRequestContext, PluginRequest } from "./plugin-request.js";
import type { PluginAppAddress, WorkersPort } from "./plugin-router.js";

const leastErrorStatus = 400;

/** Services that all requests share. */
export interface PipelineContext extends PluginRequestContext {
  readonly workers: WorkersPort;
  readonly apps: AppFinder;
  readonly reserved: ReservedPaths;
  /** Returns whether the caller sent a valid key in a header. Called only for a request with the header `X-API-Key` or `Authorization`. */
  readonly isHeaderCaller: (request: IncomingMessage) => boolean;
  /** Called after an `onRequest` hook has responded to a request with a status of 400 or above. */
  readonly onRejected: (rejection: Rejection) => void;
  readonly log: Log;
}

/** A request that the hook of a plugin rejected, so that no worker received it. */
export interface Rejection {
  readonly request: IncomingMessage;
  readonly requestId: string;
  /** The worker or plugin that would have served the request. Undefined if there is none. */
  readonly app: AppInfo | undefined;
  /** Name of the plugin that rejected the request. */
  readonly plugin: string;
  readonly status: number;
  readonly durationMs: number;
}

/**
 * The stages of one request: `onRequest` hooks, handlers of plugins, then the worker. All stages read the same plugin set, even if a reload
 * replaces the set meanwhile.
 */
export class RequestPipeline {
  readonly #host: PipelineContext;
  readonly #set: PluginSet;
  readonly #exchange: HttpExchange;
  readonly #request: PluginRequest;
  /** True if all URL parsers interpret the target of the request in the same way. If false, no route of the request is public. */
  readonly #isUnambiguous: boolean;
  #app: AppChoice | undefined | null = null;
  #isPublic = false;
  readonly #startedMs = performance.now();

  constructor(host: PipelineContext, set: PluginSet, exchange: HttpExchange) {
    this.#host = host;
    this.#set = set;
    this.#exchange = exchange;
    const { request } = exchange;
    const target = request.url ?? "/";
    const normal = normalTarget(target);
    this.#isUnambiguous = normal === target;
    // Replaces the target by the path of the normalized URL. Hooks decide by this URL, so the daemon must serve the same URL.
    if (!this.#isUnambiguous) request.url = normal;
    this.#request = new PluginRequest(host, exchange);
  }

  begin(): void {
    try {
      // Reserves the paths of the API and the panel. At a worker's host name, neither is available, so no path is reserved.
      if (!this.#exchange.hostTarget) {
        if (!this.#isUnambiguous && this.#isApi()) return this.#refuse(notFound());
        if (this.#host.reserved.isPanel(pathOf(this.#request.target))) return this.#toPanel();
      }
      if (this.#set.withRequestHook.length === 0 || this.#skipsHooks()) this.#route();
      else this.#askHooks(0);
    } catch (error) {
      this.#refuse(error);
    }
  }

  #toPanel(): void {
    this.#host.workers.handle(this.#exchange);
  }

  #askHooks(first: number): void {
    const hooked = this.#set.withRequestHook;
    for (let index = first; index < hooked.length; index += 1) {
      const plugin = hooked[index] as ActivePlugin;
      const { request } = this.#request;
      let given: unknown;
      try {
        given = plugin.hooks.onRequest?.(request, this.#appInfo);
      } catch (error) {
        if (!this.#outlives(plugin, error)) return;
        continue;
      }
      if (isThenable(given)) {
        withinTimeLimit<unknown>(given, hookTimeLimitMs, "onRequest", dropResponse).then(
          (value) => this.#goOn(() => this.#takes(plugin, value), index + 1),
          (error: unknown) => this.#goOn(() => this.#outlives(plugin, error), index + 1),
        );
        return;
      }
      if (!this.#takes(plugin, given)) return;
    }
    this.#route();
  }

  #goOn(isOn: () => boolean, next: number): void {
    try {
      if (isOn() && !this.#exchange.response.destroyed) this.#askHooks(next);
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** Handles the value that an `onRequest` hook returned. Returns true if the request continues. */
  #takes(plugin: ActivePlugin, given: unknown): boolean {
    const pluginRequest = this.#request;
    if (given !== undefined && isResponse(given)) {
      if (given.status >= leastErrorStatus) this.#noteRejection(plugin, given.status);
      void respondWith(
        given,
        this.#responseOptions((error) => plugin.complain("onRequest", error)),
      );
      return false;
    }
    const isOther = given !== undefined && given !== pluginRequest.request;
    if (isOther && !isRequest(given))
      return this.#outlives(plugin, new TypeError("the hook must return a Request, a Response or undefined"));
    if (isOther && pluginRequest.forward(given as Request)) {
      this.#app = null;
      if (!this.#exchange.hostTarget && this.#isReserved()) {
        this.#refuse(notFound());
        return false;
      }
    }
    if (pluginRequest.isWhole) return true;
    return this.#outlives(plugin, new TypeError("the hook read the request body and returned no Request with a body"));
  }

  #noteRejection({ name }: ActivePlugin, status: number): void {
    const { request, requestId } = this.#exchange;
    const durationMs = performance.now() - this.#startedMs;
    this.#host.onRejected({ request, requestId, app: this.#appInfo, plugin: name, status, durationMs });
  }

  /** Records a failed hook. Returns true if the request continues despite the failure. */
  #outlives({ hooks, complain }: ActivePlugin, error: unknown): boolean {
    // Sends no response if the client has disconnected, because the disconnection caused the failure of the hook.
    if (this.#exchange.response.destroyed) return false;
    complain("onRequest", error);
    // If the hook has read the body, rejects the request even with `onRequestFailOpen`, because no worker could read the body again.
    if (hooks.onRequestFailOpen === true && this.#request.isWhole) return true;
    this.#refuse(error instanceof ApiError ? error : hookFailed(error));
    return false;
  }

  #skipsHooks(): boolean {
    const { request, connection } = this.#exchange;
    const { headers } = request;
    const hasHeader = headers["x-api-key"] !== undefined || headers.authorization !== undefined;
    if (hasHeader && this.#host.isHeaderCaller(request)) return true;
    if (!this.#isUnambiguous) return false;
    const isHandshake = connection !== undefined;
    this.#isPublic = this.#appChoice?.publicRoutes.has(this.#appChoice.path, { method: request.method ?? "GET", isHandshake }) ?? false;
    return this.#isPublic;
  }

  #route(): void {
    const { connection, hostTarget } = this.#exchange;
    const set = this.#set;
    // Calls the handlers of plugins only at the daemon's own host names. At a worker's host name, the worker serves every path.
    const handlers =
      !hostTarget && set.withServerRoutes.length + set.withServerFetch.length + set.withBase.length > 0
        ? new HandlerCalls({
            set,
            pluginRequest: this.#request,
            reserved: this.#host.reserved,
            isGone: () => this.#exchange.response.destroyed,
          })
        : undefined;
    // Calls no handler for a WebSocket handshake, because handlers cannot respond with 101.
    if (!handlers || connection) return this.#toApps(handlers?.owner);
    this.#askHandlers(handlers).catch((error: unknown) => this.#refuse(error));
  }

  async #askHandlers(handlers: HandlerCalls): Promise<void> {
    const found = await handlers.call();
    if (this.#exchange.response.destroyed) return dropResponse(found?.response);
    if (!found) return this.#toApps(handlers.owner);
    const { response: answer, plugin, part } = found;
    const complain = (error: unknown): void => plugin.complain(part, error);
    await respondWith(answer, this.#responseOptions(complain));
  }

  /** Passes the request to the worker of the plugin with this base path. Without such a plugin, passes it to the workers. */
  #toApps(owner: ActivePlugin | undefined): void {
    const { response, connection } = this.#exchange;
    const request = this.#request.settle();
    const isReframed = (request.method === "HEAD") !== (response.req.method === "HEAD");
    const isTaken = !connection && (isReframed || this.#set.withResponseHook.length > 0);
    const answer = isTaken
      ? interceptResponse(
          request,
          this.#responseOptions((error) => this.#complain(error)),
        )
      : response;
    if (owner?.app) {
      return this.#host.workers.handleApp(owner, { ...this.#exchange, request, response: answer }, addressOf(owner, this.#request.target));
    }
    // The request skipped the hooks because of a public route of the plugin. Responds with 404, because a worker with the same name must
    // not receive this request.
    if (owner && this.#isPublic) return this.#refuse(notFound());
    this.#host.workers.handle({ ...this.#exchange, request, response: answer });
  }

  #refuse(error: unknown): void {
    const { response, requestId } = this.#exchange;
    if (!(error instanceof ApiError)) this.#complain(error);
    if (!response.destroyed) sendError(response, error, requestId);
  }

  #complain(error: unknown): void {
    this.#host.log.error({ requestId: this.#exchange.requestId, err: error }, "plugin pipeline failed to handle a request");
  }

  #responseOptions(complain: (error: unknown) => void): ResponseOptions {
    const { response: client, requestId } = this.#exchange;
    return { set: this.#set, client, requestId, about: () => ({ app: this.#appInfo, request: this.#request.shown }), complain };
  }

  get #appInfo(): AppInfo | undefined {
    return this.#appChoice?.info;
  }

  get #appChoice(): AppChoice | undefined {
    if (this.#app === null) this.#app = this.#host.apps.find(this.#set, this.#request.target, this.#exchange.hostTarget);
    return this.#app;
  }

  /** Returns whether the daemon itself serves the target. A hook must not change a target to such a path. */
  #isReserved(): boolean {
    return this.#host.reserved.has(pathOf(this.#request.target));
  }

  #isApi(): boolean {
    return this.#host.reserved.isApi(pathOf(this.#request.target));
  }
}

function addressOf({ base = "" }: ActivePlugin, target: string): PluginAppAddress {
  const path = pathOf(target);
  return { base, path: path.slice(base.length), query: target.slice(path.length) };
}

function notFound(): ApiError {
  return new ApiError("NOT_FOUND", "No worker or plugin serves this path.");
}
