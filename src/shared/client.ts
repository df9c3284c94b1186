import type * as z from "zod";
import { ApiError } from "./api-error.js";
import type { CallInput, CallOutput, EndpointDefinition, UploadSource } from "./contract/endpoint.js";
import type { Contract } from "./contract/index.js";
import { errorTable, type ErrorCode } from "./errors.js";
import { endEvent, readEventStream } from "./event-stream.js";
import { multipartOf } from "./multipart.js";

/** An HTTP request that a transport sends. `path` is relative to the origin and includes the query. */
export interface TransportRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | AsyncIterable<Uint8Array>;
  /** If this signal is set, the transport streams the response body until the signal aborts. */
  readonly streamUntil?: AbortSignal;
}

export interface TransportResponse {
  readonly status: number;
  readonly requestId: string | undefined;
  readonly text: string;
  /** The streamed response body. Undefined if no stream was requested or the request failed. Throws if the connection is lost. */
  readonly pieces?: AsyncIterable<Uint8Array>;
  /** The ETag of a download, if the transport provides it. */
  readonly etag?: string | undefined;
}

/**
 * Function that sends a request to the daemon's origin. The function adds the credential and the header `Origin`, and handles timeouts and
 * TLS.
 */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>;

type Call<Definition extends EndpointDefinition> = Definition["download"] extends string ? Downloading<Definition> : Exchanging<Definition>;

/** A streamed download. Iteration throws if the download is incomplete. */
export interface DownloadedBytes extends AsyncIterable<Uint8Array> {
  /** The ETag of the response; undefined if the transport does not provide response headers. */
  readonly etag: string | undefined;
}

type Downloading<Definition extends EndpointDefinition> = (input: CallInput<Definition>, signal: AbortSignal) => Promise<DownloadedBytes>;

type Exchanging<Definition extends EndpointDefinition> = (Definition["events"] extends z.ZodType ? Following<Definition> : unknown) &
  (Definition["events"] extends z.ZodType
    ? Definition["result"] extends z.core.$ZodType
      ? Asking<Definition>
      : unknown
    : Asking<Definition>);

type Asking<Definition extends EndpointDefinition> =
  unknown extends CallInput<Definition>
    ? () => Promise<CallOutput<Definition>>
    : object extends CallInput<Definition>
      ? (input?: CallInput<Definition>) => Promise<CallOutput<Definition>>
      : (input: CallInput<Definition>) => Promise<CallOutput<Definition>>;

interface Following<Definition extends EndpointDefinition> {
  /** Streams events until the daemon ends the stream or the signal aborts. Throws if the connection is lost. */
  readonly follow: (
    input: CallInput<Definition>,
    options: FollowOptions,
  ) => AsyncGenerator<Definition["events"] extends z.ZodType ? z.output<Definition["events"]> : never, void>;
}

export interface FollowOptions {
  readonly signal: AbortSignal;
  /** Position of the last received event, from `onPosition`. The stream continues with the next event. */
  readonly lastEventId?: string | undefined;
  /** Called with the position of each event before the event. The position can differ from the `id` of the event. */
  readonly onPosition?: ((position: string) => void) | undefined;
  /** Called when the daemon has accepted the request for the event stream. */
  readonly onOpen?: (() => void) | undefined;
}

/** API operations by resource and name: the whole contract or a part of it. */
export type Operations = Readonly<Record<string, Readonly<Record<string, EndpointDefinition>>>>;

export type ClientOf<Offered extends Operations> = {
  readonly [R in keyof Offered]: { readonly [O in keyof Offered[R]]: Call<Offered[R][O]> };
};

/** A client with all operations of the API. */
export type Client = ClientOf<Contract>;

/**
 * Thrown when a response does not match the contract. Possible causes: a proxy or another program sends the response, or daemon and client
 * have different versions.
 */
export class UnexpectedAnswerError extends Error {
  readonly status: number;
  readonly requestId: string | undefined;

  constructor(message: string, response: TransportResponse, cause?: unknown) {
    super(message, { cause });
    this.name = "UnexpectedAnswerError";
    this.status = response.status;
    this.requestId = response.requestId;
  }
}

/**
 * Returns a typed client with one function per operation in `offered`. Checks each response against the contract. `apiBase` is a path such
 * as `/api`. CLI commands pass only the operations they use, so that they load no other schemas.
 */
export function createClient<Offered extends Operations>(transport: Transport, apiBase: string, offered: Offered): ClientOf<Offered> {
  const resources = Object.entries(offered).map(([resource, endpoints]) => {
    const calls = Object.entries(endpoints).map(([name, definition]) => {
      if (definition.download !== undefined)
        return [name, (input: AnyInput, signal: AbortSignal) => download(transport, apiBase, definition, { ...input, signal })];
      const ask = (input?: AnyInput) => call(transport, apiBase, definition, input ?? {});
      const follow = (input: AnyInput, options: FollowOptions) => followEvents(transport, apiBase, definition, { ...input, ...options });
      return [name, definition.events ? Object.assign(ask, { follow }) : ask];
    });
    return [resource, Object.fromEntries(calls)];
  });
  return Object.fromEntries(resources) as ClientOf<Offered>;
}

interface AnyInput {
  readonly params?: Record<string, unknown>;
  readonly query?: Record<string, unknown>;
  readonly body?: unknown;
  readonly file?: UploadSource;
  readonly fields?: Record<string, unknown>;
  readonly files?: readonly UploadSource[];
}

async function call(transport: Transport, apiBase: string, definition: EndpointDefinition, input: AnyInput): Promise<unknown> {
  const response = await transport(toRequest(apiBase, definition, input));
  if (response.status !== definition.status) throw toError(response);
  if (definition.contentType !== undefined) return response.text;
  return definition.result ? parseResult(definition.result, response) : undefined;
}

async function download(
  transport: Transport,
  apiBase: string,
  definition: EndpointDefinition,
  { signal, ...input }: AnyInput & { readonly signal: AbortSignal },
): Promise<DownloadedBytes> {
  const response = await transport({ ...toRequest(apiBase, definition, input), streamUntil: signal });
  if (response.status !== definition.status) throw toError(response);
  const { pieces, etag } = response;
  if (!pieces) throw new UnexpectedAnswerError("The response is not a download.", response);
  return { etag, [Symbol.asyncIterator]: () => pieces[Symbol.asyncIterator]() };
}

async function* followEvents(
  transport: Transport,
  apiBase: string,
  definition: EndpointDefinition,
  { signal, lastEventId, onPosition, onOpen, ...input }: AnyInput & FollowOptions,
): AsyncGenerator<unknown, void> {
  const request = toRequest(apiBase, definition, definition.result ? { ...input, query: { ...input.query, follow: "1" } } : input);
  const resume = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
  const response = await transport({
    ...request,
    headers: { ...request.headers, accept: "text/event-stream", ...resume },
    streamUntil: signal,
  });
  if (response.status !== definition.status) throw toError(response);
  if (!response.pieces || !definition.events) throw new UnexpectedAnswerError("The response is not an event stream.", response);
  onOpen?.();
  for await (const { id, event, data } of readEventStream(response.pieces)) {
    if (event === endEvent) throw toError({ ...response, text: data });
    if (event !== "message") continue;
    if (id !== undefined) onPosition?.(id);
    yield parseResult(definition.events, { ...response, text: data });
  }
}

function toRequest(apiBase: string, definition: EndpointDefinition, input: AnyInput): TransportRequest {
  const path = definition.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(input.params?.[name])));
  const query = new URLSearchParams(pairsOf(input.query)).toString();
  const target = { method: definition.method, path: (definition.atOrigin ? "" : apiBase) + path + (query && `?${query}`) };
  const [part, files] = definition.form ? [definition.form.files, input.files] : [definition.upload, input.file && [input.file]];
  if (part !== undefined && files) {
    const multipart = multipartOf(part, files, pairsOf(input.fields));
    const length = multipart.sizeBytes === undefined ? {} : { "content-length": String(multipart.sizeBytes) };
    return { ...target, headers: { "content-type": multipart.contentType, ...length }, body: multipart.bytes };
  }
  if (definition.body) return { ...target, headers: { "content-type": "application/json" }, body: JSON.stringify(input.body) };
  return { ...target, headers: {} };
}

/** Converts the values of a query or form to name-value pairs. A list value becomes one pair per item. */
function pairsOf(values: Record<string, unknown> = {}): [name: string, value: string][] {
  return Object.entries(values).flatMap(([name, value]) => {
    const given = (Array.isArray(value) ? value : [value]) as readonly (string | number | boolean | undefined)[];
    return given.flatMap((single): [string, string][] => (single === undefined ? [] : [[name, String(single)]]));
  });
}

/**
 * Validates through the Standard Schema interface, the only validation interface of the module that replaces zod in the panel's bundle (see
 * scripts/build-panel.mjs). Accepts words that the contract does not list, such as a permission that only a newer daemon has.
 */
function parseResult(schema: z.core.$ZodType, response: TransportResponse): unknown {
  const answer = parseJson(response);
  const checked = schema["~standard"].validate(answer);
  if (checked instanceof Promise) throw new TypeError("response schemas must be synchronous");
  if ((checked.issues as readonly z.core.$ZodIssue[] | undefined)?.every((issue) => isUnknownWord(issue, answer))) return answer;
  if (checked.issues)
    throw new UnexpectedAnswerError(
      "The response does not match the contract. Check that daemon and client have the same version.",
      response,
      checked.issues,
    );
  return checked.value;
}

/**
 * Whether the issue is only an unlisted word: a value of an enumeration, or the name of a property. A newer daemon can send unlisted words.
 * A constant, such as the name of the daemon, must match exactly.
 */
function isUnknownWord(issue: z.core.$ZodIssue, answer: unknown): boolean {
  if (issue.code === "unrecognized_keys") return true;
  if (issue.code !== "invalid_value" || issue.values.length < 2) return false;
  const value = issue.path.reduce<unknown>((part, key) => (part as Readonly<Record<PropertyKey, unknown>>)[key], answer);
  return typeof value === "string" && issue.values.every((word) => typeof word === "string");
}

function parseJson(response: TransportResponse): unknown {
  try {
    return JSON.parse(response.text);
  } catch (cause) {
    throw new UnexpectedAnswerError(
      `The response (status ${response.status}) is not JSON. Check that this address is a runtimed daemon.`,
      response,
      cause,
    );
  }
}

/** Returns the error that a failed response describes. */
function toError(response: TransportResponse): Error {
  const body = parseJson(response) as { error?: { code?: unknown; message?: unknown; details?: unknown } } | null;
  const { code, message, details } = body?.error ?? {};
  if (typeof code !== "string" || typeof message !== "string" || !Object.hasOwn(errorTable, code))
    return new UnexpectedAnswerError(`The daemon responded with status ${response.status} and an unknown error.`, response);
  const error = new ApiError(code as ErrorCode, message, { details });
  error.requestId = response.requestId;
  return error;
}
