import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError } from "../../shared/api-error.js";
import type { HttpExchange } from "../web/http-exchange.js";
import { LazyRequest, normalPath, type RequestOrigin, type LazyBody } from "../web/lazy-request.js";
import { upgradeLines, type RequestHeads } from "../web/request-heads.js";
import { ForwardedMessage } from "./forwarded-message.js";
import { discardBody } from "../web/request-body.js";

/** Settings of the plugin pipeline that all requests share. */
export interface PluginRequestContext {
  readonly heads: RequestHeads;
  /** Maximum size of a request body that plugins can read. */
  readonly maximumBodyBytes: number;
  /** Maps each copy of a client's request to the client's message. A copy can have another `Request` class. */
  readonly copies: WeakMap<Request, IncomingMessage>;
}

/** A request on its way through the plugin pipeline. Plugins receive it as a `Request`, later stages as an IncomingMessage. */
export class PluginRequest implements RequestOrigin {
  /** The client's request, including credentials. */
  readonly original: IncomingMessage;
  readonly #host: PluginRequestContext;
  readonly #response: ServerResponse;
  readonly #requestId: string;
  readonly #isHandshake: boolean;
  #message: IncomingMessage;
  #target: string;
  /** Requests that plugins receive. `#request` has the whole path. `#stripped` has the path below the base path of the plugin. */
  #request: Request | undefined;
  #stripped: LazyRequest | undefined;
  #body: MessageBody | undefined;
  #shown: Request | undefined;

  constructor(host: PluginRequestContext, exchange: HttpExchange) {
    this.#host = host;
    this.original = exchange.request;
    this.#message = exchange.request;
    this.#response = exchange.response;
    this.#requestId = exchange.requestId;
    this.#isHandshake = exchange.connection !== undefined;
    this.#target = exchange.request.url ?? "/";
  }

  /** Path and query of the request. */
  get target(): string {
    return this.#target;
  }

  /** The request for plugins. Its fields throw INVALID_REQUEST if the Host header is invalid. */
  get request(): Request {
    if (this.#request) return this.#request;
    this.#request = this.#view(undefined, this.#target) as unknown as Request;
    this.#shown ??= this.#request;
    return this.#request;
  }

  /** The request that the daemon passed to the most recent plugin. */
  get shown(): Request {
    return this.#shown ?? this.request;
  }

  /** True if no handler has read or locked the body. Another handler can then read it. */
  get isWhole(): boolean {
    return this.#isUntouched || [this.#request, this.#stripped].every((request) => !request || isUnread(request));
  }

  /** Replaces this request by the request that a plugin returned. Returns whether the path or the query changed. */
  forward(next: Request): boolean {
    this.#host.copies.set(next, this.original);
    this.#request = next;
    this.#shown = next;
    const { pathname, search } = new URL(next.url);
    const isElsewhere = pathname + search !== this.#target;
    this.#target = pathname + search;
    return isElsewhere;
  }

  /** Returns the request as a message for the stages after the plugins. The body must be unread. */
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

  /**
   * Returns the request for the plugin with the base path `base`. Its URL contains only the path below the base path. The body must be
   * unread.
   */
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
    if (head === undefined) throw new ApiError("INVALID_REQUEST", "The Host header must be a host name with an optional port.");
    return this.#isHandshake ? head + upgradeLines : head;
  }
}

/** Normalizes the path of a request target, so that all later stages interpret the path in the same way. */
export function normalTarget(target: string): string {
  if (normalPath.test(target)) return target;
  const { pathname, search } = new URL(`http://localhost${target}`);
  return pathname + search;
}

function isUnread(request: Request | LazyRequest): boolean {
  return !request.bodyUsed && request.body?.locked !== true;
}

interface Waiter {
  resolve(chunk: Buffer | undefined): void;
  reject(error: unknown): void;
}

/** Request body for plugins, which is read from the client only on demand and with backpressure. */
class MessageBody implements LazyBody {
  /** Always undefined, because the body is never received in advance. */
  readonly inline = undefined;
  readonly #message: IncomingMessage;
  readonly #maximumBytes: number;
  readonly #chunks: Buffer[] = [];
  #isTouched = false;
  #hasEnded = false;
  #failure: unknown;
  #waiter: Waiter | undefined;
  #receivedBytes = 0;

  /** If the body is larger than `maximumBytes`, its readers receive the error PAYLOAD_TOO_LARGE. */
  constructor(message: IncomingMessage, maximumBytes: number) {
    this.#message = message;
    this.#maximumBytes = maximumBytes;
  }

  /**
   * Returns whether plugins receive a body. A body of GET or HEAD has no meaning in HTTP, and the `Request` constructor rejects it, so the
   * daemon ignores it.
   */
  static isIn({ method, headers }: IncomingMessage): boolean {
    if (method === "GET" || method === "HEAD") return false;
    return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
  }

  /** True after a plugin has started to read the body. */
  get isTouched(): boolean {
    return this.#isTouched;
  }

  async collect(): Promise<Uint8Array> {
    const chunks: Buffer[] = [];
    for (let chunk = await this.#next(); chunk; chunk = await this.#next()) chunks.push(chunk);
    return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
  }

  toStream(): ReadableStream<Uint8Array> {
    this.#begin();
    return new ReadableStream({
      type: "bytes",
      pull: async (controller) => {
        const chunk = await this.#next();
        if (chunk) return controller.enqueue(new Uint8Array(chunk));
        controller.close();
        controller.byobRequest?.respond(0);
      },
      cancel: () => this.#discard(),
    });
  }

  #begin(): void {
    if (this.#isTouched) return;
    this.#isTouched = true;
    const message = this.#message;
    if (message.readableDidRead || message.destroyed) {
      this.#failure = new TypeError("The body was forwarded with the request and cannot be read here.");
      return;
    }
    message.on("data", this.#onData);
    message.once("end", () => this.#end());
    message.once("error", () => this.#fail(gone()));
    message.once("close", () => this.#fail(gone()));
    message.pause();
  }

  #next(): Promise<Buffer | undefined> {
    this.#begin();
    const chunk = this.#chunks.shift();
    if (chunk) return Promise.resolve(chunk);
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#hasEnded) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
      this.#message.resume();
    });
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#receivedBytes += chunk.length;
    if (this.#receivedBytes > this.#maximumBytes) {
      this.#fail(
        new ApiError("PAYLOAD_TOO_LARGE", `The request body exceeds ${this.#maximumBytes} bytes, the most that plugins can read.`),
      );
      this.#discard();
      return;
    }
    const waiter = this.#waiter;
    this.#waiter = undefined;
    if (waiter) waiter.resolve(chunk);
    else this.#chunks.push(chunk);
    this.#message.pause();
  };

  #end(): void {
    this.#hasEnded = true;
    this.#waiter?.resolve(undefined);
    this.#waiter = undefined;
  }

  #fail(error: unknown): void {
    if (this.#hasEnded || this.#failure !== undefined) return;
    this.#failure = error;
    this.#waiter?.reject(error);
    this.#waiter = undefined;
  }

  /** Discards the unread rest of the body, so that the client can use the connection for the next request. */
  #discard(): void {
    this.#message.removeListener("data", this.#onData);
    discardBody(this.#message);
  }
}

function gone(): DOMException {
  return new DOMException("The client stopped sending the request body.", "AbortError");
}
