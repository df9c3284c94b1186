import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError } from "../../shared/api-error.js";
import { LazyRequest, normalPath, type RequestOrigin } from "../web/lazy-request.js";
import { type RequestHeads, upgradeLines } from "../web/request-heads.js";
import { ForwardedMessage } from "./forwarded-message.js";
import { MessageBody } from "./message-body.js";

/** What all requests share. */
export interface TravelHost {
  readonly heads: RequestHeads;
  /** The most that a plugin may read of a request's body. */
  readonly maximumBodyBytes: number;
  /** Which message of a client a request that is not of ours was made of. */
  readonly copies: WeakMap<Request, IncomingMessage>;
}

/** A request on its way past the plugins: each sees it as a `Request`, what comes behind them takes it as a message. */
export class PluginRequest implements RequestOrigin {
  /** What the client sent, credentials and all. */
  readonly original: IncomingMessage;
  readonly #host: TravelHost;
  readonly #response: ServerResponse;
  readonly #requestId: string;
  readonly #isHandshake: boolean;
  #message: IncomingMessage;
  #target: string;
  /** Two views of one message: as it is, and with a base taken off. */
  #request: Request | undefined;
  #stripped: LazyRequest | undefined;
  #body: MessageBody | undefined;
  #shown: Request | undefined;

  constructor(host: TravelHost, visit: { request: IncomingMessage; response: ServerResponse; requestId: string; connection: unknown }) {
    this.#host = host;
    this.original = visit.request;
    this.#message = visit.request;
    this.#response = visit.response;
    this.#requestId = visit.requestId;
    this.#isHandshake = visit.connection !== undefined;
    this.#target = visit.request.url ?? "/";
  }

  /** Path and query. */
  get target(): string {
    return this.#target;
  }

  /** As plugins see it; it throws INVALID_REQUEST when it is looked at and its Host header cannot be part of a URL. */
  get request(): Request {
    if (this.#request) return this.#request;
    this.#request = this.#view(undefined, this.#target) as unknown as Request;
    this.#shown ??= this.#request;
    return this.#request;
  }

  /** The one that plugins saw last. */
  get shown(): Request {
    return this.#shown ?? this.request;
  }

  /** False when somebody has read the body, or holds it, so that nobody else can. */
  get isWhole(): boolean {
    return this.#isUntouched || [this.#request, this.#stripped].every((request) => !request || isUnread(request));
  }

  /** Has another request go on. Tells whether it has another target. */
  handOn(next: Request): boolean {
    this.#host.copies.set(next, this.original);
    this.#request = next;
    this.#shown = next;
    const { pathname, search } = new URL(next.url);
    const isElsewhere = pathname + search !== this.#target;
    this.#target = pathname + search;
    return isElsewhere;
  }

  /** As a message for what comes behind the plugins; its body must be whole. */
  settle(): IncomingMessage {
    if (this.#isUntouched) return this.#message;
    const request = [this.#stripped, this.#request].find((view) => view && !this.#isOwnUntouched(view)) as Request;
    this.#message = new ForwardedMessage({
      original: this.original,
      request,
      target: this.#target,
      keepsLength: LazyRequest.isLazy(request) && LazyRequest.originOf(request) === this,
      isHandshake: this.#isHandshake,
    });
    this.#request = undefined;
    this.#stripped = undefined;
    this.#body = undefined;
    return this.#message;
  }

  /** As the plugin at `base` sees it; its body must be whole. */
  below(base: string): Request {
    this.settle();
    const rest = this.#target.slice(base.length);
    this.#stripped = this.#view(base, rest.startsWith("/") ? rest : `/${rest}`);
    return this.#stripped as unknown as Request;
  }

  onCopy(copy: Request): void {
    this.#host.copies.set(copy, this.original);
  }

  onSignal(request: LazyRequest): void {
    const response = this.#response;
    if (response.closed) return LazyRequest.abort(request);
    response.once("close", () => {
      if (!response.writableFinished) LazyRequest.abort(request);
    });
  }

  get #isUntouched(): boolean {
    if (this.#request && !this.#isOwnUntouched(this.#request)) return false;
    return !this.#stripped || this.#isOwnUntouched(this.#stripped);
  }

  #isOwnUntouched(request: object): boolean {
    return LazyRequest.isLazy(request) && LazyRequest.originOf(request) === this && this.#body?.isTouched !== true;
  }

  #view(base: string | undefined, path: string): LazyRequest {
    const message = this.#message;
    if (MessageBody.isIn(message)) this.#body ??= new MessageBody(message, this.#host.maximumBodyBytes);
    return new LazyRequest(() => this.#writeHead(message, base, path), this.#body, this);
  }

  #writeHead(message: IncomingMessage, base: string | undefined, path: string): string {
    const head = this.#host.heads.write(message, { base, path, requestId: this.#requestId });
    if (head === undefined) throw new ApiError("INVALID_REQUEST", "The Host header is not a host name with an optional port.");
    return this.#isHandshake ? head + upgradeLines : head;
  }
}

/** A target as everybody behind this reads it: what would be resolved later, and by each in his way, is resolved now. */
export function normalTarget(target: string): string {
  if (normalPath.test(target)) return target;
  const { pathname, search } = new URL(`http://localhost${target}`);
  return pathname + search;
}

function isUnread(request: Request | LazyRequest): boolean {
  return !request.bodyUsed && request.body?.locked !== true;
}
