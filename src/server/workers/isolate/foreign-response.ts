const NativeResponse = globalThis.Response;
const nullBodyStatuses = new Set([204, 205, 304]);

/** The members of a `Response` from another implementation: `@whatwg-node/fetch`, `node-fetch`, the npm package `undici` or a framework. */
interface ForeignResponse {
  readonly status: number;
  readonly headers: Iterable<readonly [string, string]> & ForeignCookies;
  readonly url?: unknown;
  readonly body?: unknown;
  readonly arrayBuffer?: () => Promise<ArrayBuffer>;
}

interface ForeignCookies {
  readonly getSetCookie?: () => readonly string[];
  /** Returns the values of all headers by name. Only `node-fetch` has this function. */
  readonly raw?: () => Readonly<Record<string, readonly string[]>>;
}

/**
 * Converts a response of another implementation to a native Response. Returns undefined for another object. Throws for invalid header names
 * or values.
 */
export function toNativeResponse(value: object): Response | undefined {
  if (!isForeignResponse(value)) return undefined;
  return new NativeResponse(nullBodyStatuses.has(value.status) ? null : bodyOf(value), { status: value.status, headers: headersOf(value) });
}

/** Returns a text about a value that is not a response, for an error message. */
export function describeResponse(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value !== "object") return `a ${typeof value}`;
  const name: unknown = (value as { constructor?: { name?: unknown } }).constructor?.name;
  return typeof name === "string" && /^\w{1,50}$/.test(name) ? `${/^[AEIOU]/.test(name) ? "an" : "a"} ${name}` : "an object";
}

function isForeignResponse(value: object): value is ForeignResponse {
  const { status, headers, bodyUsed } = value as { status?: unknown; headers?: unknown; bodyUsed?: unknown };
  return (
    typeof status === "number" &&
    Number.isInteger(status) &&
    status >= 200 &&
    status <= 599 &&
    typeof headers === "object" &&
    headers !== null &&
    Symbol.iterator in headers &&
    bodyUsed !== true
  );
}

function headersOf({ headers: given, url }: ForeignResponse): Headers {
  const headers = new Headers();
  const cookies = given.getSetCookie?.() ?? given.raw?.()["set-cookie"];
  for (const [name, value] of given) if (cookies === undefined || name.toLowerCase() !== "set-cookie") headers.append(name, value);
  for (const cookie of cookies ?? []) headers.append("set-cookie", cookie);
  // Removes the headers of the encoded body. A response with a URL comes from `fetch`, which has decoded the body.
  if (typeof url === "string" && url !== "" && headers.has("content-encoding")) {
    headers.delete("content-encoding");
    headers.delete("content-length");
  }
  return headers;
}

function bodyOf(response: ForeignResponse): ReadableStream<Uint8Array> | null {
  const { body } = response;
  if (body instanceof ReadableStream) return body as ReadableStream<Uint8Array>;
  if (isObjectWith(body, "getReader")) return streamOf(piecesByReader(body as ReadableStream<Uint8Array>));
  if (isObjectWith(body, Symbol.asyncIterator)) return streamOf(body as AsyncIterable<unknown>);
  if (body === null || response.arrayBuffer === undefined) return null;
  return streamOf(wholeBody(response));
}

function isObjectWith(value: unknown, name: PropertyKey): boolean {
  return typeof value === "object" && value !== null && name in value;
}

async function* piecesByReader(body: ReadableStream<Uint8Array>): AsyncGenerator {
  const reader = body.getReader();
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      isOver = done;
      if (done) return;
      yield value;
    }
  } finally {
    if (!isOver) await reader.cancel();
  }
}

async function* wholeBody(response: ForeignResponse): AsyncGenerator {
  yield new Uint8Array((await response.arrayBuffer?.()) ?? new ArrayBuffer(0));
}

function streamOf(pieces: AsyncIterable<unknown>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done === true) controller.close();
      else controller.enqueue(typeof value === "string" ? Buffer.from(value) : (value as Uint8Array));
    },
    cancel: async (reason) => void (await iterator.return?.(reason)),
  });
}
