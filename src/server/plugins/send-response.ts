import type { IncomingMessage, ServerResponse } from "node:http";
import type { AppInfo } from "../../plugin/index.js";
import { ApiError } from "../../shared/api-error.js";
import { sendError } from "../web/error-response.js";
import { mayRespondWith } from "../web/response-headers.js";
import type { PluginSet } from "./plugin-set.js";
import { showToHooks, dropResponse, isSendable } from "./hooks.js";
import { ResponseInterceptor } from "./response-interceptor.js";

/** The worker and the request that belong to a response. The `onResponse` hooks receive both. */
interface Subject {
  readonly app: AppInfo | undefined;
  readonly request: Request;
}

export interface ResponseOptions {
  readonly set: PluginSet;
  readonly client: ServerResponse;
  readonly requestId: string;
  readonly about: () => Subject;
  /** Logs a failure of the plugin. */
  readonly complain: (error: unknown) => void;
}

/** Returns the error that the client receives if a hook of the response failed. */
export function hookFailed(cause?: unknown): ApiError {
  return new ApiError("PLUGIN_HOOK_FAILED", "A plugin failed to handle the request. Retry after 5 seconds.", {
    retryAfterSeconds: 5,
    cause,
  });
}

/**
 * Passes the `Response` of a plugin's handler to the `onResponse` hooks and sends it. If the body fails before its first byte, reports a
 * failure of the handler.
 */
export async function respondWith(answer: Response, { set, client, requestId, about, complain }: ResponseOptions): Promise<void> {
  try {
    const shown = set.withResponseHook.length === 0 ? answer : await showToHooks(set, answer, about());
    if (client.destroyed) return void shown.body?.cancel().catch(() => undefined);
    if (shown.body !== answer.body) dropResponse(answer);
    if (!isSendable(shown)) throw new TypeError("the body of the response was already read");
    await writeResponse(client, shown, { requestId, isLengthTrue: shown === answer || shown.body === answer.body });
  } catch (error) {
    complain(error);
    if (!client.destroyed) sendError(client, error, requestId);
  }
}

/**
 * Returns a ServerResponse for the worker. The `onResponse` hooks receive the response before the client. If no hook changes the response,
 * the client receives exactly the bytes that the worker wrote.
 */
export function interceptResponse(request: IncomingMessage, options: ResponseOptions): ResponseInterceptor {
  const { client } = options;
  return new ResponseInterceptor({
    request,
    client,
    onBegun: (taken) => void passOn(taken, options).catch((error) => fail(error, taken, options)),
  });
}

async function passOn(taken: ResponseInterceptor, { set, client, requestId, about }: ResponseOptions): Promise<void> {
  const { statusCode: status, pairs, isWhole } = taken;
  // True if either the client's request or the worker's request is HEAD, but not both. The framing of the worker's response then differs
  // from the framing that the client expects.
  const isReframed = (client.req.method === "HEAD") !== (taken.req.method === "HEAD");
  const answer = new Response(taken.toBody(), { status, headers: toHeaders(pairs) });
  const { body } = answer;
  const before = linesOf(answer.headers);
  const shown = set.withResponseHook.length === 0 ? answer : await showToHooks(set, answer, about());
  if (client.destroyed) return taken.drop();
  const isHeadAsCame = shown.status === status && linesOf(shown.headers) === before;
  // If the buffer contains the whole body, the daemon can still send the body after a hook has read its copy.
  const isBodyAsCame = shown === answer && isWhole ? true : shown.body === body && isSendable(shown);
  if (isBodyAsCame && !isReframed) return taken.sendAs(shown.status, isHeadAsCame ? pairs : changedPairs(shown, { pairs, requestId }));
  if (!isSendable(shown)) throw new TypeError("the body of the response was already read");
  // Discards the original body, because the new response has another body.
  if (body && !body.locked && shown.body !== body) taken.drop();
  await writeResponse(client, shown, { requestId, isLengthTrue: shown === answer && !isReframed });
}

function fail(error: unknown, taken: ResponseInterceptor, { client, requestId, complain }: ResponseOptions): void {
  complain(error);
  taken.drop();
  if (!client.destroyed) sendError(client, error instanceof ApiError ? error : hookFailed(error), requestId);
}

function toHeaders(pairs: readonly string[]): Headers {
  const headers = new Headers();
  for (let index = 0; index + 1 < pairs.length; index += 2) headers.append(pairs[index] as string, pairs[index + 1] as string);
  return headers;
}

function linesOf(headers: Headers): string {
  let lines = "";
  for (const [name, value] of headers) lines += `${name}: ${value}\n`;
  return lines;
}

/** Returns the headers that the hooks returned, with the `Content-Length` of the original body. */
function changedPairs({ headers, status }: Response, { pairs, requestId }: { pairs: readonly string[]; requestId: string }): string[] {
  const changed: string[] = [];
  for (const [name, value] of headers) if (mayRespondWith(name, value)) changed.push(name, value);
  const at = pairs.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === "content-length");
  if (at !== -1 && status !== 204 && status !== 304) changed.push("content-length", pairs[at + 1] as string);
  return [...changed, "x-request-id", requestId];
}

interface WriteOptions {
  readonly requestId: string;
  /** True if `Content-Length` is the length of the body. A hook that replaces the body can leave the old header. */
  readonly isLengthTrue: boolean;
}

type Reader = ReadableStreamDefaultReader<unknown>;

/**
 * Sends a `Response` with backpressure. Stops if the client disconnects. If the body fails before the headers are sent, rejects. If it
 * fails later, closes the connection.
 */
async function writeResponse(to: ServerResponse, answer: Response, { requestId, isLengthTrue }: WriteOptions): Promise<void> {
  const { status } = answer;
  if (!(status >= 200 && status <= 599)) throw new TypeError(`${status} is not a valid response status`);
  const { pairs, length } = headOf(answer, isLengthTrue);
  pairs.push("x-request-id", requestId);
  const mayHaveLength = status !== 204 && status !== 304;
  if (answer.body === null || !mayHaveBody(to, status)) {
    answer.body?.cancel().catch(() => undefined);
    const claimed = to.req.method === "HEAD" ? length : 0;
    if (mayHaveLength && claimed !== undefined) pairs.push("content-length", String(claimed));
    to.writeHead(status, pairs);
    to.end();
    return;
  }
  const reader: Reader = answer.body.getReader();
  const onClose = (): void => void reader.cancel(clientGone()).catch(() => undefined);
  to.once("close", onClose);
  try {
    await stream(to, reader, { status, pairs, length });
  } catch (error) {
    reader.cancel(error).catch(() => undefined);
    if (!to.headersSent) throw error;
    to.destroy();
  } finally {
    to.removeListener("close", onClose);
  }
}

async function stream(
  to: ServerResponse,
  reader: Reader,
  { status, pairs, length }: { status: number; pairs: string[]; length: number | undefined },
): Promise<void> {
  let chunk = await nextChunk(reader);
  let next = chunk && nextChunk(reader);
  // Adds a handler that ignores the rejection. Otherwise Node.js would report an unhandled rejection, because this function awaits `next`
  // only later.
  next?.catch(() => undefined);
  const isWhole = !next || (await isOverSoon(next));
  if (to.destroyed) return;
  const wholeLength = isWhole ? (chunk?.length ?? 0) : length;
  if (length !== undefined && wholeLength !== length) throw new Error(`the body has ${wholeLength} bytes, but Content-Length is ${length}`);
  to.writeHead(status, wholeLength === undefined ? pairs : [...pairs, "content-length", String(wholeLength)]);
  let missing = wholeLength ?? Infinity;
  while (chunk) {
    missing -= chunk.length;
    if (missing < 0) throw new Error("the body is longer than its Content-Length");
    if (!to.write(chunk)) await room(to);
    if (to.destroyed) return;
    chunk = await (next ?? nextChunk(reader));
    next = undefined;
  }
  if (missing > 0 && missing !== Infinity) throw new Error("the body is shorter than its Content-Length");
  to.end();
}

/** Returns whether the stream has already ended. The daemon can then send the response with a known length. */
async function isOverSoon(next: Promise<Buffer | undefined>): Promise<boolean> {
  const waiting = Symbol("waiting");
  const first = await Promise.race([next, new Promise((resolve) => setImmediate(resolve, waiting))]);
  return first === undefined;
}

async function nextChunk(reader: Reader): Promise<Buffer | undefined> {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return undefined;
    if (!(value instanceof Uint8Array)) throw new TypeError("the body must yield Uint8Array chunks");
    if (value.byteLength > 0) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
}

function room(to: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      to.removeListener("drain", done);
      to.removeListener("close", done);
      resolve();
    };
    if (to.destroyed) return done();
    to.on("drain", done);
    to.on("close", done);
  });
}

/** Returns the headers that the daemon sends to the client, and the body length that these headers state. */
function headOf(answer: Response, isLengthTrue: boolean): { pairs: string[]; length: number | undefined } {
  // Omits `Content-Encoding` and `Content-Length` of a `fetch` response, because `fetch` has decoded the body.
  const isFetched = answer.url !== "" && answer.headers.has("content-encoding");
  const pairs: string[] = [];
  for (const [name, value] of answer.headers) {
    if (mayRespondWith(name, value) && !(isFetched && name === "content-encoding")) pairs.push(name, value);
  }
  const claimed = answer.headers.get("content-length") ?? "";
  return { pairs, length: isLengthTrue && !isFetched && /^\d{1,15}$/.test(claimed) ? Number(claimed) : undefined };
}

function mayHaveBody(to: ServerResponse, status: number): boolean {
  return to.req.method !== "HEAD" && status !== 204 && status !== 205 && status !== 304;
}

function clientGone(): DOMException {
  return new DOMException("The client disconnected.", "AbortError");
}
