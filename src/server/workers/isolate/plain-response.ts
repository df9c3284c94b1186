import { replaceHeaders } from "../../web/replace-headers.js";
import { toNativeResponse } from "./foreign-response.js";
import { lineFeed } from "../protocol/frames.js";
import { toSwitchingResponse, webSocketOf } from "./web-socket-response.js";
import type { PairedWebSocket } from "./web-socket.js";

const NativeResponse = globalThis.Response;
const decoder = new TextDecoder();
const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Matches the white space that the Fetch standard removes around a header value. `trim` would remove more characters. */
const outerSpace = /^[\t\n\r ]+|[\t\n\r ]+$/g;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;
const textType = `content-type${lineFeed}text/plain;charset=UTF-8`;
const jsonType = `content-type${lineFeed}application/json`;

/** Type of the body in the native constructors. The type declarations export no name for this type. */
type BodyInit = ConstructorParameters<typeof Response>[0];
type RedirectStatus = Parameters<typeof Response.redirect>[1];
type PlainBody = string | Uint8Array | null;

/** The status, headers and body of a response for the frame protocol. */
export interface ResponseParts {
  readonly status: number;
  /** Response headers as lines of the frame protocol: name, value, next name. */
  readonly head: string;
  readonly body: PlainBody;
}

/**
 * The global `Response` of an isolate. Stores a body of text or bytes in plain fields, without a stream. Uses the native class for all
 * other bodies and for rare methods.
 */
export class PlainResponse {
  #status = 200;
  #head = "";
  #body: PlainBody = null;
  #headers: Headers | undefined;
  #isBodyUsed = false;
  #native: Response | undefined;

  constructor(body?: BodyInit, init?: ResponseInit) {
    if (!this.#takePlain(body ?? null, init)) this.#native = toSwitchingResponse(body, init) ?? new NativeResponse(body, init);
  }

  static [Symbol.hasInstance](value: unknown): boolean {
    if (this !== PlainResponse) return Function.prototype[Symbol.hasInstance].call(this, value);
    return value instanceof NativeResponse;
  }

  static json(data: unknown, init?: ResponseInit): Response {
    const text = JSON.stringify(data) as string | undefined;
    if (text === undefined) return NativeResponse.json(data, init);
    const response = new PlainResponse(null, init);
    if (response.#native || hasNoBody(response.#status)) return NativeResponse.json(data, init);
    response.#body = text;
    if (!hasContentType(response.#head)) response.#head = withLine(response.#head, jsonType);
    return response;
  }

  static error(): Response {
    return NativeResponse.error();
  }

  static redirect(url: string | URL, status?: RedirectStatus): Response {
    return NativeResponse.redirect(url, status ?? 302);
  }

  /**
   * Returns the parts of a plain response. For another Response, returns its native form. Returns undefined for a value that is no
   * Response.
   */
  static takeApart(value: unknown): ResponseParts | Response | undefined {
    if (typeof value !== "object" || value === null) return undefined;
    if (!(#head in value)) return value instanceof NativeResponse ? value : toNativeResponse(value);
    if (value.#native || value.#isBodyUsed) return value.#toNative();
    return { status: value.#status, head: value.#headers ? headLines(value.#headers) : value.#head, body: value.#body };
  }

  get status(): number {
    return this.#native?.status ?? this.#status;
  }

  get statusText(): string {
    return this.#native?.statusText ?? "";
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  get headers(): Headers {
    return (this.#headers ??= this.#native?.headers ?? toHeaders(this.#head));
  }

  get body(): ReadableStream<Uint8Array> | null {
    if (!this.#native && this.#body === null) return null;
    return this.#toNative().body;
  }

  get bodyUsed(): boolean {
    return this.#native?.bodyUsed ?? this.#isBodyUsed;
  }

  clone(): Response {
    if (this.#native || this.#isBodyUsed) return this.#toNative().clone();
    const copy = new PlainResponse();
    copy.#status = this.#status;
    copy.#head = this.#headers ? headLines(this.#headers) : this.#head;
    copy.#body = this.#body;
    return copy;
  }

  async text(): Promise<string> {
    if (this.#native) return this.#native.text();
    const body = this.#useBody();
    return typeof body === "string" ? decoder.decode(Buffer.from(body)) : decoder.decode(body);
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#toNative().arrayBuffer();
  }

  async blob(): Promise<Blob> {
    return this.#toNative().blob();
  }

  async bytes(): Promise<Uint8Array> {
    return new Uint8Array(await this.#toNative().arrayBuffer());
  }

  async formData(): Promise<FormData> {
    return this.#toNative().formData();
  }

  get type(): Response["type"] {
    return this.#native?.type ?? "default";
  }

  get url(): string {
    return this.#native?.url ?? "";
  }

  get redirected(): boolean {
    return this.#native?.redirected ?? false;
  }

  /** The end of a `WebSocketPair` that becomes the client's connection. Null if the response has no WebSocket. */
  get webSocket(): PairedWebSocket | null {
    return this.#native ? webSocketOf(this.#native) : null;
  }

  #takePlain(body: BodyInit, init: ResponseInit | undefined): boolean {
    const isText = typeof body === "string";
    if (!isText && body !== null && !(body instanceof Uint8Array) && !(body instanceof ArrayBuffer)) return false;
    if (init !== undefined && !this.#takeInit(init)) return false;
    if (body !== null && hasNoBody(this.#status)) return false;
    if (isText) {
      this.#body = body;
      if (this.#head === "") this.#head = textType;
      else if (!hasContentType(this.#head)) this.#head = withLine(this.#head, textType);
      return true;
    }
    // Copies the bytes, because the worker can change its buffer before the isolate sends the response.
    if (body !== null) this.#body = body instanceof ArrayBuffer ? new Uint8Array(body.slice(0)) : Uint8Array.prototype.slice.call(body);
    return true;
  }

  #takeInit(init: ResponseInit): boolean {
    if (init === null || typeof init !== "object") return false;
    const { status, statusText, headers } = init;
    if (status !== undefined) {
      if (typeof status !== "number" || !Number.isInteger(status) || status < 200 || status > 599) return false;
      this.#status = status;
    }
    if (statusText !== undefined && statusText !== "") return false;
    if (headers === undefined) return true;
    const head = plainHead(headers);
    if (head === undefined) return false;
    this.#head = head;
    return true;
  }

  #useBody(): PlainBody & (string | Uint8Array) {
    if (this.#isBodyUsed) throw new TypeError("Body is unusable: Body has already been read");
    if (this.#body === null) return "";
    this.#isBodyUsed = true;
    return this.#body;
  }

  /** Returns the native Response with the current headers. */
  #toNative(): Response {
    if (this.#native) {
      if (this.#headers && this.#headers !== this.#native.headers) replaceHeaders(this.#native.headers, this.#headers);
      return this.#native;
    }
    const native = new NativeResponse(this.#body, { status: this.#status, headers: this.headers });
    if (this.#isBodyUsed) void native.text();
    this.#native = native;
    return native;
  }
}

/**
 * Returns the header lines if the input is a Headers object or a plain object with valid names and values. Returns undefined for other
 * input, which the native class then checks.
 */
function plainHead(headers: unknown): string | undefined {
  if (typeof headers !== "object" || headers === null) return undefined;
  if (headers instanceof Headers) return headLines(headers);
  const prototype: unknown = Object.getPrototypeOf(headers);
  if ((prototype !== Object.prototype && prototype !== null) || Object.getOwnPropertySymbols(headers).length > 0) return undefined;
  let head = "";
  const names: string[] = [];
  for (const name in headers) {
    const value = (headers as Record<string, unknown>)[name];
    if (typeof value !== "string" && typeof value !== "number") return undefined;
    const text = typeof value === "string" ? value.replaceAll(outerSpace, "") : String(value);
    const lower = name.toLowerCase();
    if (!headerName.test(lower) || !headerValue.test(text) || names.includes(lower)) return undefined;
    names.push(lower);
    head = withLine(head, `${lower}${lineFeed}${text}`);
  }
  return head;
}

export function headLines(headers: Headers): string {
  let head = "";
  for (const [name, value] of headers) head = withLine(head, `${name}${lineFeed}${value}`);
  return head;
}

/** Converts lines of the frame protocol to a Headers object. */
export function toHeaders(head: string): Headers {
  const headers = new Headers();
  const lines = head === "" ? [] : head.split(lineFeed);
  for (let index = 0; index + 1 < lines.length; index += 2) headers.append(lines[index] as string, lines[index + 1] as string);
  return headers;
}

function hasNoBody(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

function hasContentType(head: string): boolean {
  for (let at = head.indexOf("content-type"); at !== -1; at = head.indexOf("content-type", at + 1)) {
    const isName = (at === 0 || isNameLine(head, at)) && head[at + 12] === lineFeed;
    if (isName) return true;
  }
  return false;
}

/** Returns whether a header name starts at position `at` of the lines. Names and values take turns, so every second line is a name. */
function isNameLine(head: string, at: number): boolean {
  let feeds = 0;
  for (let index = head.indexOf(lineFeed); index !== -1 && index < at; index = head.indexOf(lineFeed, index + 1)) feeds += 1;
  return feeds % 2 === 0 && head[at - 1] === lineFeed;
}

function withLine(head: string, line: string): string {
  return head === "" ? line : head + lineFeed + line;
}

/** Makes `PlainResponse` the global `Response`. The responses of `fetch()` are still instances of `Response`. */
export function installResponse(): void {
  Object.setPrototypeOf(PlainResponse.prototype, NativeResponse.prototype);
  // Makes the members enumerable, because the Fetch standard requires this. Members of a class are not enumerable by default.
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(PlainResponse.prototype)))
    Object.defineProperty(PlainResponse.prototype, name, { ...descriptor, enumerable: name !== "constructor" });
  Object.defineProperty(PlainResponse, "name", { value: "Response" });
  Object.defineProperty(PlainResponse, "length", { value: 0 });
  Object.defineProperty(NativeResponse.prototype, "constructor", { value: PlainResponse, writable: true, configurable: true });
  Object.defineProperty(globalThis, "Response", { value: PlainResponse, writable: true, configurable: true });
}
