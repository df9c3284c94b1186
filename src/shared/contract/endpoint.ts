import type * as z from "zod";
import type { ErrorCode } from "../errors.js";
import type { Permission } from "../permissions.js";
import type { ChangeType } from "./changes.js";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Who may call: anybody, anybody with a valid credential, or keys that hold a permission, or each of several. */
export type Access = "public" | "authenticated" | Permission | readonly Permission[];

/** A file that comes in as a multipart part and lies in the spool until the handler has returned. */
export interface UploadedFile {
  /** Where the bytes lie, on the server. */
  readonly path: string;
  /** The client's name for it, without folders: good for its extension only. */
  readonly filename: string;
  /** How many bytes lie there when the handler is called. */
  readonly sizeBytes: number;
  /** What is still to come of a large file; without it the file is whole. */
  readonly arrival?: FileArrival;
}

/** The rest of a file, for handlers that begin before it is there. */
export interface FileArrival {
  /** Settles when no more comes; rejects with what the client is told when the upload broke off or is refused: nothing may come of it then. */
  readonly whole: Promise<void>;
  /** Tells how many bytes lie in the file: now, and whenever there are a good deal more. */
  follow(onGrowth: (sizeBytes: number) => void): void;
}

/** A multipart body of text fields and any number of files. */
export interface FormDefinition {
  /** Name of the file parts. */
  readonly files: string;
  /** The text fields; one that may be repeated takes a text or a list. */
  readonly fields: z.ZodObject;
}

/** What a handler gives back where bytes are the answer. They are opened when they are sent, and closed in any case. */
export type Download = FileDownload | StreamDownload;

/** A file whose size is known: ranges and conditions are answered for it. */
export interface FileDownload {
  readonly filename: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  /** Strong, in quotes. */
  readonly etag: string;
  /** Bytes from `start` to `end`, both included. Ends with `close` when it is not called. */
  readonly open: (range: { start: number; end: number }) => DownloadBytes;
  /** Without effect once it was opened. */
  readonly close: () => void;
}

/** Bytes that are made while they are sent. */
export interface StreamDownload {
  readonly filename: string;
  readonly open: () => DownloadBytes;
}

/** A stream as Node's are, said without Node. Destroyed when the client goes. */
export interface DownloadBytes extends AsyncIterable<Uint8Array> {
  destroy(error?: Error): unknown;
}

/** What `endpoint()` takes. Path parameters are written `:name`; paths are below the API base unless `atOrigin`. */
export interface EndpointDefinition {
  readonly method: HttpMethod;
  readonly path: string;
  /** One sentence, imperative. */
  readonly summary: string;
  readonly access: Access;
  /** Public, and its handler learns who calls, when a credential says so. */
  readonly seesCaller?: true;
  /** Only clients on this machine, or at the admin listener, get a response, and not through a proxy: others get NOT_FOUND. */
  readonly localOnly?: true;
  /** The path lies at the origin, not below the API base. */
  readonly atOrigin?: boolean;
  /** The path names a package by `:scope/:name`, or by `:name` with its scope: a key restricted to other namespaces is refused. */
  readonly namespaced?: boolean;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** A JSON body. */
  readonly body?: z.ZodType;
  /** Codes that take the place of INVALID_REQUEST when the part of the input with this name is wrong. */
  readonly inputErrors?: Readonly<Record<string, ErrorCode>>;
  /** A multipart body with exactly one file part of this name. */
  readonly upload?: string;
  /** A multipart body with fields and files, which are whole before the handler is called. */
  readonly form?: FormDefinition;
  /** The success body is bytes, sent as they come: what they are, in a few words. */
  readonly download?: string;
  /** The status of success. */
  readonly status: number;
  /** The JSON body of success; absent where `status` is 204 or `contentType` is set. */
  readonly result?: z.core.$ZodType;
  /** A success body that is not JSON, as text. */
  readonly contentType?: string;
  /**
   * Events as `text/event-stream`: the only success body, or, beside `result`, the one for `?follow=1` (see `followQuery`). Each has an
   * `id` that grows, which is its SSE id too: a caller that sends the last one it has seen gets those after it.
   */
  readonly events?: z.ZodType<{ readonly id: number }>;
  /** What a success has changed: told to those who follow the events, and written to the audit log, as are attempts that are refused. */
  readonly change?: ChangeType;
  /** It brings code that would run as the daemon; `RUNTIME_PLUGIN_UPLOADS` restricts it. */
  readonly changesPlugin?: boolean;
  /** The success body holds a key. It is never compressed: its length would tell of the key to one who can add text to the answer (BREACH). */
  readonly returnsKey?: true;
  /** On success the session cookie is issued for the key in the body, or cleared. */
  readonly session?: "issue" | "clear";
  /** Codes of its own; those that follow from access, input and upload are added by `errorCodesOf`. */
  readonly errors?: readonly ErrorCode[];
}

/** Describes one operation: routes, checks, OpenAPI and the client all follow from it. */
export function endpoint<const Definition extends EndpointDefinition>(definition: Definition): Definition {
  return definition;
}

/** What a handler gives back to be followed: called when the stream is open; ends soon after the signal aborts. */
export type EventFeed<Event> = (signal: AbortSignal) => AsyncIterable<readonly Event[]>;

type OutputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;
type InputOf<Schema> = Schema extends z.ZodType ? z.input<Schema> : undefined;

type FieldsOf<Definition extends EndpointDefinition> = Definition["form"] extends FormDefinition
  ? z.output<Definition["form"]["fields"]>
  : undefined;

/** What a handler is given: the input, parsed. */
export interface HandlerInput<Definition extends EndpointDefinition> {
  readonly params: OutputOf<Definition["params"]>;
  readonly query: OutputOf<Definition["query"]>;
  readonly body: OutputOf<Definition["body"]>;
  readonly file: Definition["upload"] extends string ? UploadedFile : undefined;
  readonly fields: FieldsOf<Definition>;
  readonly files: Definition["form"] extends FormDefinition ? readonly UploadedFile[] : undefined;
  /** The last event that a reader who comes back has seen. */
  readonly lastEventId: Definition["events"] extends z.ZodType ? number | undefined : undefined;
}

/** What a handler gives back. */
export type HandlerOutput<Definition extends EndpointDefinition> =
  | (Definition["events"] extends z.ZodType ? EventFeed<z.input<Definition["events"]>> : never)
  | (Definition["result"] extends z.core.$ZodType
      ? z.input<Definition["result"]>
      : Definition["events"] extends z.ZodType
        ? never
        : Definition["contentType"] extends string
          ? string
          : Definition["download"] extends string
            ? Download
            : void);

/** What a caller of the client passes: only the parts that the operation has. */
export type CallInput<Definition extends EndpointDefinition> = (Definition["params"] extends z.ZodType
  ? { params: InputOf<Definition["params"]> }
  : unknown) &
  (Definition["query"] extends z.ZodType ? { query?: InputOf<Definition["query"]> } : unknown) &
  (Definition["body"] extends z.ZodType ? { body: InputOf<Definition["body"]> } : unknown) &
  (Definition["upload"] extends string ? { file: UploadSource } : unknown) &
  (Definition["form"] extends FormDefinition ? { fields: z.input<Definition["form"]["fields"]>; files: readonly UploadSource[] } : unknown);

export type CallOutput<Definition extends EndpointDefinition> = Definition["result"] extends z.core.$ZodType
  ? z.output<Definition["result"]>
  : Definition["contentType"] extends string
    ? string
    : undefined;

/** A file that the client sends: its name (the extension counts), its size when known, and its bytes as they come. */
export interface UploadSource {
  readonly filename: string;
  readonly sizeBytes?: number | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** The permissions that a key needs for this operation, every one of them. */
export function permissionsFor({ access }: Pick<EndpointDefinition, "access">): readonly Permission[] {
  if (access === "public" || access === "authenticated") return [];
  return typeof access === "string" ? [access] : access;
}

/** Every code that this operation may answer with, in the order of refusal. */
export function errorCodesOf(definition: EndpointDefinition): ErrorCode[] {
  const codes: ErrorCode[] = [];
  if (definition.localOnly) codes.push("NOT_FOUND");
  if (definition.access !== "public") codes.push("AUTH_REQUIRED", "SESSION_AMBIGUOUS");
  if (permissionsFor(definition).length > 0) codes.push("PERMISSION_DENIED");
  if (definition.namespaced) codes.push("NAMESPACE_DENIED");
  if (definition.changesPlugin) codes.push("PLUGIN_UPLOADS_RESTRICTED");
  if (definition.method !== "GET") codes.push("CSRF_ORIGIN_REQUIRED", "CSRF_ORIGIN_MISMATCH");
  if (definition.body) codes.push("UNSUPPORTED_MEDIA_TYPE", "PAYLOAD_TOO_LARGE", "INVALID_JSON");
  if (definition.upload)
    codes.push(
      "UNSUPPORTED_MEDIA_TYPE",
      "PAYLOAD_TOO_LARGE",
      "INVALID_MULTIPART",
      "NO_FILE_PROVIDED",
      "STORAGE_NOT_WRITABLE",
      "INSUFFICIENT_STORAGE",
    );
  if (definition.form)
    codes.push(
      "UNSUPPORTED_MEDIA_TYPE",
      "PAYLOAD_TOO_LARGE",
      "INVALID_MULTIPART",
      "NO_FILE_PROVIDED",
      "STORAGE_NOT_WRITABLE",
      "INSUFFICIENT_STORAGE",
    );
  if (definition.params || definition.query || definition.body || definition.form) codes.push("INVALID_REQUEST");
  if (definition.events) codes.push("TOO_MANY_STREAMS");
  codes.push(...Object.values(definition.inputErrors ?? {}), ...(definition.errors ?? []), "TOO_MANY_OPEN_FILES", "INTERNAL_ERROR");
  return [...new Set(codes)];
}
