import { replaceHeaders } from "./replace-headers.js";

/**
 * Separator of the lines in a request head: method, origin, path, then name and value of each header. Names and values cannot contain a
 * line feed.
 */
export const lineFeed = "\n";

/** Body of a lazy request. The daemon or isolate reads nothing before the worker or plugin uses the body. */
export interface LazyBody {
  /** The whole body, if it is already received. Undefined for other bodies. */
  readonly inline: Uint8Array | undefined;
  collect(): Promise<Uint8Array>;
  toStream(): ReadableStream<Uint8Array>;
}

/** Functions by which a lazy request notifies the code that created it. */
export interface RequestOrigin {
  /** Called after `clone()` or `new Request(request)` has created a native request from the lazy request. */
  onCopy(copy: Request): void;
  /** Called when the worker or plugin reads the request's `signal` for the first time. */
  onSignal(request: LazyRequest): void;
}

let nativeClass: typeof Request | undefined;
/** Returns the class `Request` of Node.js. Reads the class only on demand, because Node.js takes long to load it. */
const nativeRequest = (): typeof Request => (nativeClass ??= globalThis.Request);
const decoder = new TextDecoder();
const noBytes = new Uint8Array(0);
/** Matches a path with query that `new URL` would not change. */
export const normalPath = /^(?:\/(?!\.|%2e)[\w\-.~!$&'()*+,;=:@%]*)+(?:\?[\w\-.~!$&()*+,;=:@%/?]*)?$/i;

/**
 * A request that creates native objects only on demand. Its prototype makes it a `Request`. The head has the lines method, origin, path,
 * then name and value of each header, and is parsed at its first use.
 */
export class LazyRequest {
  #head: string | (() => string);
  readonly #body: LazyBody | undefined;
  readonly #origin: RequestOrigin | undefined;
  #method: string | undefined;
  #url: string | undefined;
  #headers: Headers | undefined;
  #controller: AbortController | undefined;
  #isAborted = false;
  #onAbort: (() => void) | undefined;
  #isBodyUsed = false;
  #native: Request | undefined;
  /** Values of the `:name` segments in a route pattern. Set only if a pattern in the worker's `routes` matches. */
  declare params?: Record<string, string>;

  /** `head` is the text of the head, or a function that returns it at its first use. */
  constructor(head: string | (() => string), body: LazyBody | undefined, origin?: RequestOrigin) {
    this.#head = head;
    this.#body = body;
    this.#origin = origin;
  }

  /** Returns the native request with the current headers. Creates it at the first call. */
  static nativeOf(request: LazyRequest): Request {
    if (!request.#native) request.#native = request.#toNative();
    else if (request.#headers) replaceHeaders(request.#native.headers, request.#headers);
    return request.#native;
  }

  static isLazy(value: unknown): value is LazyRequest {
    return typeof value === "object" && value !== null && #head in value;
  }

  static originOf(request: LazyRequest): RequestOrigin | undefined {
    return request.#origin;
  }

  static abort(request: LazyRequest): void {
    request.#isAborted = true;
    request.#controller?.abort();
    request.#onAbort?.();
  }

  /** Calls `onAbort` when the client aborts the request. A listener on `signal` would cost more time. */
  static onAbort(request: LazyRequest, onAbort: () => void): void {
    request.#onAbort = onAbort;
  }

  /** Returns the head and the body, for callers that do not need a `Request`. */
  static partsOf(request: LazyRequest): { readonly head: string; readonly body: LazyBody | undefined } {
    return { head: request.#lines(), body: request.#body };
  }

  get method(): string {
    if (this.#method !== undefined) return this.#method;
    const head = this.#lines();
    this.#method = head.slice(0, head.indexOf(lineFeed));
    return this.#method;
  }

  get url(): string {
    if (this.#url !== undefined) return this.#url;
    const head = this.#lines();
    const originStart = head.indexOf(lineFeed) + 1;
    const pathStart = head.indexOf(lineFeed, originStart) + 1;
    const pathEnd = head.indexOf(lineFeed, pathStart);
    const path = head.slice(pathStart, pathEnd === -1 ? undefined : pathEnd);
    const text = head.slice(originStart, pathStart - 1) + path;
    this.#url = normalPath.test(path) ? text : new URL(text).href;
    return this.#url;
  }

  get headers(): Headers {
    return (this.#headers ??= this.#readHeaders());
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort();
      else this.#origin?.onSignal(this);
    }
    return this.#controller.signal;
  }

  get body(): ReadableStream<Uint8Array> | null {
    return this.#body ? LazyRequest.nativeOf(this).body : null;
  }

  get bodyUsed(): boolean {
    return this.#native ? this.#native.bodyUsed : this.#isBodyUsed;
  }

  clone(): Request {
    const copy = LazyRequest.nativeOf(this).clone();
    this.#origin?.onCopy(copy);
    return copy;
  }

  async text(): Promise<string> {
    return this.#native ? this.#native.text() : decoder.decode(await this.#takeBody());
  }

  async json(): Promise<unknown> {
    return this.#native ? this.#native.json() : JSON.parse(decoder.decode(await this.#takeBody()));
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    if (this.#native) return this.#native.arrayBuffer();
    return new Uint8Array(await this.#takeBody()).buffer;
  }

  #lines(): string {
    if (typeof this.#head !== "string") this.#head = this.#head();
    return this.#head;
  }

  #takeBody(): Uint8Array | Promise<Uint8Array> {
    if (this.#isBodyUsed) throw new TypeError("Body is unusable: Body has already been read");
    if (!this.#body) return noBytes;
    this.#isBodyUsed = true;
    return this.#body.inline ?? this.#body.collect();
  }

  #readHeaders(): Headers {
    const headers = new Headers();
    const lines = this.#lines().split(lineFeed);
    for (let index = 3; index + 1 < lines.length; index += 2) headers.append(lines[index] as string, lines[index + 1] as string);
    return headers;
  }

  #toNative(): Request {
    const NativeRequest = nativeRequest();
    const init: RequestInit = { method: this.method, headers: this.headers, signal: this.signal };
    if (this.#body && this.#isBodyUsed) {
      const request = new NativeRequest(this.url, { ...init, body: "" });
      // Reads the body of the native request, so that its `bodyUsed` is true like in the lazy request.
      void request.text();
      return request;
    }
    if (!this.#body) return new NativeRequest(this.url, init);
    const body = this.#body.inline ?? this.#body.toStream();
    return new NativeRequest(this.url, { ...init, body, duplex: "half" });
  }
}

/** Rarely used properties of a lazy request, which are read from the native request. */
const delegatedGetters = [
  "cache",
  "credentials",
  "destination",
  "duplex",
  "integrity",
  "isHistoryNavigation",
  "isReloadNavigation",
  "keepalive",
  "mode",
  "redirect",
  "referrer",
  "referrerPolicy",
] as const;
const delegatedMethods = ["blob", "bytes", "formData"] as const;

/** Makes a lazy request valid wherever Node.js expects a `Request`: `instanceof`, `new Request(request)` and `fetch(request)`. */
export function installRequest(): void {
  const lazy = LazyRequest.prototype;
  const NativeRequest = nativeRequest();
  // Returns if the prototype is already changed, because it must be changed only once.
  if (lazy instanceof NativeRequest) return;
  for (const name of delegatedGetters) {
    if (!(name in NativeRequest.prototype)) continue;
    Object.defineProperty(lazy, name, {
      get(this: LazyRequest) {
        return Reflect.get(LazyRequest.nativeOf(this), name) as unknown;
      },
    });
  }
  for (const name of delegatedMethods) {
    if (!(name in NativeRequest.prototype)) continue;
    const method = function (this: LazyRequest): unknown {
      const native = LazyRequest.nativeOf(this);
      return (Reflect.get(native, name) as () => unknown).call(native);
    };
    Object.defineProperty(lazy, name, { value: method, writable: true, configurable: true });
  }
  acceptLazyRequests(NativeRequest.prototype, lazy);
  Object.setPrototypeOf(lazy, NativeRequest.prototype);
  const request = new Proxy(NativeRequest, {
    construct: (target, [input, init]: [unknown, unknown], newTarget) => {
      if (!LazyRequest.isLazy(input)) return Reflect.construct(target, [input, init], newTarget) as object;
      const copy = Reflect.construct(target, [LazyRequest.nativeOf(input), init], newTarget) as Request;
      LazyRequest.originOf(input)?.onCopy(copy);
      return copy;
    },
  });
  for (const prototype of [lazy, NativeRequest.prototype]) {
    Object.defineProperty(prototype, "constructor", { value: request, writable: true, configurable: true });
  }
  const nativeFetch = globalThis.fetch;
  // A rest parameter keeps `fetch.length` at 1, as in the Fetch standard.
  const fetch = (input: unknown, ...init: [RequestInit?]): Promise<Response> =>
    nativeFetch((LazyRequest.isLazy(input) ? LazyRequest.nativeOf(input) : input) as Request, ...init);
  Object.defineProperty(globalThis, "Request", { value: request, writable: true, configurable: true });
  Object.defineProperty(globalThis, "fetch", { value: fetch, writable: true, configurable: true, enumerable: true });
}

/** Makes the getters and methods of the native prototype accept lazy requests, as in `Reflect.get(Request.prototype, "url", request)`. */
function acceptLazyRequests(native: Request, lazy: LazyRequest): void {
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(native))) {
    const { get, value } = descriptor as { get?: (this: unknown) => unknown; value?: unknown };
    if (name === "constructor" || !(name in lazy)) continue;
    if (get)
      Object.defineProperty(native, name, {
        ...descriptor,
        get(this: unknown) {
          return LazyRequest.isLazy(this) ? Reflect.get(lazy, name, this) : get.call(this);
        },
      });
    else if (typeof value === "function")
      Object.defineProperty(native, name, {
        ...descriptor,
        value(this: unknown) {
          const method = LazyRequest.isLazy(this) ? Reflect.get(lazy, name) : value;
          return (method as () => unknown).call(this);
        },
      });
  }
}
