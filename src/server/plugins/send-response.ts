import type { IncomingMessage, ServerResponse } from "node:http";
import type { AppInfo } from "../../plugin/index.js";
import { ApiError } from "../../shared/api-error.js";
import { sendError } from "../web/error-response.js";
import { mayRespondWith } from "../web/response-headers.js";
import type { PluginSet } from "./plugin-set.js";
import { showToHooks } from "./response-hooks.js";
import { ResponseInterceptor } from "./response-interceptor.js";
import { dropResponse, isSendable } from "./web-objects.js";
import { writeResponse } from "./write-response.js";

/** What the hooks of a response are told about. */
export interface Subject {
  readonly app: AppInfo | undefined;
  readonly request: Request;
}

export interface ResponseOptions {
  readonly set: PluginSet;
  readonly client: ServerResponse;
  readonly requestId: string;
  readonly about: () => Subject;
  /** What failed, for the log. */
  readonly complain: (error: unknown) => void;
}

/** What a client is told in place of an answer that is no more. */
export function hookFailed(cause?: unknown): ApiError {
  return new ApiError("PLUGIN_HOOK_FAILED", "A plugin failed to handle the request; try again in a moment.", {
    retryAfterSeconds: 5,
    cause,
  });
}

/** Sends the `Response` of a plugin's handler, past the hooks. A body that fails before its first byte is a failure of the handler. */
export async function respondWith(answer: Response, { set, client, requestId, about, complain }: ResponseOptions): Promise<void> {
  try {
    const shown = set.withResponseHook.length === 0 ? answer : await showToHooks(set, answer, about());
    if (client.destroyed) return void shown.body?.cancel().catch(() => undefined);
    if (shown.body !== answer.body) dropResponse(answer);
    if (!isSendable(shown)) throw new TypeError("the body of its answer was read before it could be sent");
    await writeResponse(client, shown, { requestId, isLengthTrue: shown === answer || shown.body === answer.body });
  } catch (error) {
    complain(error);
    if (!client.destroyed) sendError(client, error, requestId);
  }
}

/** Stands in for an answer that others write, so that the hooks see it first; what they leave alone goes as it came. */
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
  // One of both is HEAD and the other is not: the framing is not the one that the client waits for.
  const isReframed = (client.req.method === "HEAD") !== (taken.req.method === "HEAD");
  const answer = new Response(taken.toBody(), { status, headers: toHeaders(pairs) });
  const { body } = answer;
  const before = linesOf(answer.headers);
  const shown = set.withResponseHook.length === 0 ? answer : await showToHooks(set, answer, about());
  if (client.destroyed) return taken.drop();
  const isHeadAsCame = shown.status === status && linesOf(shown.headers) === before;
  // A body that came as one piece is here still, whatever a hook did with what it saw of it.
  const isBodyAsCame = shown === answer && isWhole ? true : shown.body === body && isSendable(shown);
  if (isBodyAsCame && !isReframed) return taken.sendAs(shown.status, isHeadAsCame ? pairs : changedPairs(shown, { pairs, requestId }));
  if (!isSendable(shown)) throw new TypeError("the body of the answer was read before it could be sent");
  // Nothing of what came is in it.
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

/** The head that a hook gave to the body as it came; its framing stays. */
function changedPairs({ headers, status }: Response, { pairs, requestId }: { pairs: readonly string[]; requestId: string }): string[] {
  const changed: string[] = [];
  for (const [name, value] of headers) if (mayRespondWith(name, value)) changed.push(name, value);
  const at = pairs.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === "content-length");
  if (at !== -1 && status !== 204 && status !== 304) changed.push("content-length", pairs[at + 1] as string);
  return [...changed, "x-request-id", requestId];
}
