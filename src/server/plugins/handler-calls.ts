import { ApiError } from "../../shared/api-error.js";
import { errorHeaders } from "../web/error-response.js";
import type { ActivePlugin } from "./plugin-instance.js";
import { hookFailed } from "./send-response.js";
import type { PluginSet } from "./plugin-set.js";
import { isBelow, pathOf, pathForms, type ReservedPaths } from "../web/reserved-paths.js";
import { withinTimeLimit, dropResponse, isResponse } from "./hooks.js";
import type { PluginRequest } from "./plugin-request.js";

/** Time limit from the call of a plugin's handler to the beginning of its response. The response body has no time limit. */
const handlerLimitMs = 30_000;

/** Response of a plugin's handler, with the plugin and the name of the handler, such as `server.fetch`. */
export interface FoundResponse {
  readonly response: Response;
  readonly plugin: ActivePlugin;
  readonly part: string;
}

/**
 * Calls the handlers of plugins until one of them responds. The order is `server.routes`, `server.fetch`, then `routes` of the plugin whose
 * base path contains the request path.
 */
export class HandlerCalls {
  /** The plugin whose base path contains the request path. */
  readonly owner: ActivePlugin | undefined;
  readonly #set: PluginSet;
  readonly #pluginRequest: PluginRequest;
  readonly #path: string;
  /** Returns whether the client has disconnected. The daemon then does not log the failure of a handler that reads the body. */
  readonly #isGone: () => boolean;
  /** Returns whether the daemon is allowed to call the `server` handlers of a plugin for this request. */
  readonly #mayAsk: (plugin: ActivePlugin) => boolean;

  constructor(options: { set: PluginSet; pluginRequest: PluginRequest; reserved: ReservedPaths; isGone: () => boolean }) {
    const { set, pluginRequest } = options;
    this.#set = set;
    this.#pluginRequest = pluginRequest;
    this.#isGone = options.isGone;
    this.#path = pathOf(pluginRequest.target);
    this.owner = ownerOf(set, this.#path);
    const isReserved = options.reserved.has(this.#path);
    const owners = pathForms(this.#path).flatMap((form) => ownerOf(set, form) ?? []);
    this.#mayAsk = (plugin) => !isReserved && owners.every((owner) => owner === plugin);
  }

  /**
   * Calls the handlers one after another until one of them handles the request. Returns its response, or undefined if every handler passes
   * the request on. Rejects with the error for the client.
   */
  async call(): Promise<FoundResponse | undefined> {
    return (await this.#askServerRoutes()) ?? (await this.#askServerFetch()) ?? (await this.#askOwner());
  }

  async #askServerRoutes(): Promise<FoundResponse | undefined> {
    const { request } = this.#pluginRequest;
    let refused: { plugin: ActivePlugin; allow: string } | undefined;
    for (const plugin of this.#set.withServerRoutes) {
      const match = this.#mayAsk(plugin) ? plugin.routes?.match(request.method, this.#path) : undefined;
      if (!match) continue;
      const { handler, params, allow } = match;
      if (handler) return await this.#call(plugin, "server.routes", () => handler(request, params));
      refused ??= { plugin, allow };
    }
    return refused && { response: methodNotAllowed(request.method, refused.allow), plugin: refused.plugin, part: "server.routes" };
  }

  async #askServerFetch(): Promise<FoundResponse | undefined> {
    for (const plugin of this.#set.withServerFetch) {
      if (!this.#mayAsk(plugin)) continue;
      const found = await this.#call(plugin, "server.fetch", () => plugin.hooks.server?.fetch?.(this.#pluginRequest.request));
      if (!this.#isPass(found)) return found;
    }
    return undefined;
  }

  async #askOwner(): Promise<FoundResponse | undefined> {
    const { owner } = this;
    if (owner?.base === undefined || typeof owner.hooks.routes?.fetch !== "function") return undefined;
    const request = this.#pluginRequest.below(owner.base);
    const found = await this.#call(owner, "routes", () => owner.hooks.routes?.fetch(request));
    return this.#isPass(found) ? undefined : found;
  }

  async #call(plugin: ActivePlugin, part: string, handler: () => unknown): Promise<FoundResponse> {
    let isLate = true;
    try {
      const work = (async () => handler())().finally(() => (isLate = false));
      const response = await withinTimeLimit(work, handlerLimitMs, part, dropResponse);
      if (!isResponse(response)) throw new TypeError("the handler did not return a Response");
      return { response, plugin, part };
    } catch (error) {
      if (!this.#isGone()) plugin.complain(part, error);
      if (error instanceof ApiError) throw error;
      throw isLate ? hookFailed(error) : handlerFailed(error);
    }
  }

  /**
   * Returns true if the daemon passes the request on to the next handler. This requires a response with status 404 and an unread request
   * body.
   */
  #isPass({ response }: FoundResponse): boolean {
    if (response.status !== 404 || !this.#pluginRequest.isWhole) return false;
    dropResponse(response);
    // Passes the original request on, because a handler can have read a copy while the original is still unread.
    this.#pluginRequest.settle();
    return true;
  }
}

function ownerOf(set: PluginSet, path: string): ActivePlugin | undefined {
  return set.withBase.find(({ base }) => base !== undefined && isBelow(path, base));
}

function handlerFailed(cause: unknown): ApiError {
  return new ApiError("INTERNAL_ERROR", "A plugin failed to handle the request. The daemon's log contains the reason.", { cause });
}

function methodNotAllowed(method: string, allow: string): Response {
  const error = new ApiError("METHOD_NOT_ALLOWED", `This path accepts ${allow}, not ${method}.`);
  return Response.json(error.toBody(), { status: error.status, headers: { ...errorHeaders(error), allow } });
}
