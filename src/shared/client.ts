import type * as z from "zod";
import { ApiError } from "./api-error.js";
import type { CallInput, CallOutput, EndpointDefinition, UploadSource } from "./contract/endpoint.js";
import type { Contract } from "./contract/index.js";
import { errorTable, type ErrorCode } from "./errors.js";
import { endEvent, readEventStream } from "./event-stream.js";
import { multipartOf } from "./multipart.js";

/** One HTTP request as the client hands it to a transport. `path` starts at the origin and carries the query. */
export interface TransportRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | AsyncIterable<Uint8Array>;
  /** The body of the answer is wanted as it comes, for as long as this does not abort. */
  readonly streamUntil?: AbortSignal;
}

export interface TransportResponse {
  readonly status: number;
  readonly requestId: string | undefined;
  readonly text: string;
  /** The body as it comes, where that was asked for and the call succeeded. Throws when the connection is lost. */
  readonly pieces?: AsyncIterable<Uint8Array>;
  /** Of what is downloaded, where the transport tells it. */
  readonly etag?: string | undefined;
}

/** Sends a request to the daemon's origin. Adds the credential and `Origin`, knows deadlines and TLS. */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>;

type Call<Definition extends EndpointDefinition> = Definition["download"] extends string ? Downloading<Definition> : Exchanging<Definition>;

/** The bytes as they come. Throws when they end before they are whole. */
export interface DownloadedBytes extends AsyncIterable<Uint8Array> {
  /** Undefined where the transport does not tell it. */
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
  /** The events as they come, until the daemon ends the stream or the signal aborts. Throws when the connection is lost. */
  readonly follow: (
    input: CallInput<Definition>,
    options: FollowOptions,
  ) => AsyncGenerator<Definition["events"] extends z.ZodType ? z.output<Definition["events"]> : never, void>;
}

export interface FollowOptions {
  readonly signal: AbortSignal;
  /** The last event that was seen: those after it come. */
  readonly lastEventId?: number | undefined;
  /** The daemon took the call; events come from now on. */
  readonly onOpen?: (() => void) | undefined;
}

/** Operations by resource and name: the contract, or the part of it that a caller needs. */
export type Operations = Readonly<Record<string, Readonly<Record<string, EndpointDefinition>>>>;

export type ClientOf<Offered extends Operations> = {
  readonly [R in keyof Offered]: { readonly [O in keyof Offered[R]]: Call<Offered[R][O]> };
};

/** The client of the whole API. */
export type Client = ClientOf<Contract>;

/** The answer is not what the contract promises: another program, another version, or a proxy answered. */
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
 * The typed client: one function per operation that it is given; every answer is checked against the contract. `apiBase` is a path
 * such as `/api`. The operations are given, so that a command builds the schemas of those alone that it calls.
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
  if (!pieces) throw new UnexpectedAnswerError("The answer is no download.", response);
  return { etag, [Symbol.asyncIterator]: () => pieces[Symbol.asyncIterator]() };
}

async function* followEvents(
  transport: Transport,
  apiBase: string,
  definition: EndpointDefinition,
  { signal, lastEventId, onOpen, ...input }: AnyInput & FollowOptions,
): AsyncGenerator<unknown, void> {
  const request = toRequest(apiBase, definition, definition.result ? { ...input, query: { ...input.query, follow: "1" } } : input);
  const resume = lastEventId === undefined ? {} : { "last-event-id": String(lastEventId) };
  const response = await transport({
    ...request,
    headers: { ...request.headers, accept: "text/event-stream", ...resume },
    streamUntil: signal,
  });
  if (response.status !== definition.status) throw toError(response);
  if (!response.pieces || !definition.events) throw new UnexpectedAnswerError("The answer is no event stream.", response);
  onOpen?.();
  for await (const { event, data } of readEventStream(response.pieces)) {
    if (event === endEvent) throw toError({ ...response, text: data });
    if (event === "message") yield parseResult(definition.events, { ...response, text: data });
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

/** Names and values as texts; those of a list each under its name. */
function pairsOf(values: Record<string, unknown> = {}): [name: string, value: string][] {
  return Object.entries(values).flatMap(([name, value]) => {
    const given = (Array.isArray(value) ? value : [value]) as readonly (string | number | boolean | undefined)[];
    return given.flatMap((single): [string, string][] => (single === undefined ? [] : [[name, String(single)]]));
  });
}

/** By the standard interface of schemas: not all are zod's, see scripts/ready-contracts.mjs. */
function parseResult(schema: z.core.$ZodType, response: TransportResponse): unknown {
  const checked = schema["~standard"].validate(parseJson(response));
  if (checked instanceof Promise) throw new TypeError("answers are checked at once");
  if (checked.issues)
    throw new UnexpectedAnswerError(
      "The answer does not fit the contract; daemon and client may be of different versions.",
      response,
      checked.issues,
    );
  return checked.value;
}

function parseJson(response: TransportResponse): unknown {
  try {
    return JSON.parse(response.text);
  } catch (cause) {
    throw new UnexpectedAnswerError(
      `The answer (status ${response.status}) is not JSON; is this address a runtimed daemon?`,
      response,
      cause,
    );
  }
}

/** Rebuilds the error that an answer carries. */
function toError(response: TransportResponse): Error {
  const body = parseJson(response) as { error?: { code?: unknown; message?: unknown; details?: unknown } } | null;
  const { code, message, details } = body?.error ?? {};
  if (typeof code !== "string" || typeof message !== "string" || !Object.hasOwn(errorTable, code))
    return new UnexpectedAnswerError(`The daemon answered with status ${response.status} and no error that this client knows.`, response);
  const error = new ApiError(code as ErrorCode, message, { details });
  error.requestId = response.requestId;
  return error;
}
