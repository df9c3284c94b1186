import type * as z from "zod";
import type { ErrorCode } from "../errors.js";
import type { Permission } from "../permissions.js";
import type { ChangeType } from "./changes.js";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * The callers that are allowed to call an operation: all, those with any valid credential, or keys with one or all of several permissions.
 */
export type Access = "public" | "authenticated" | Permission | readonly Permission[];

/** A file part of a multipart body, stored in the spool until the handler returns. */
export interface UploadedFile {
  /** Path of the spooled file on the server. */
  readonly path: string;
  /** File name from the client, without folders. Use only its extension. */
  readonly filename: string;
  /** Number of spooled bytes when the handler is called. */
  readonly sizeBytes: number;
  /** The rest of a large file. Undefined if the file is complete. */
  readonly arrival?: FileArrival;
}

/** The rest of a file, for handlers that start before the file is complete. */
export interface FileArrival {
  /** Resolves when the file is complete. Rejects with the client's error if the upload is incomplete or rejected: discard the file then. */
  readonly whole: Promise<void>;
  /** Reports the number of spooled bytes, now and while the file grows. */
  follow(onGrowth: (sizeBytes: number) => void): void;
}

/** A multipart body of text fields and any number of files. */
export interface FormDefinition {
  /** Name of the file parts. */
  readonly files: string;
  /** The text fields. A repeatable field accepts a string or a list. */
  readonly fields: z.ZodObject;
}

/** The result of a handler whose response is a download. Opened when the response is sent, and always closed. */
export type Download = FileDownload | StreamDownload;

/** A file of known size. Supports range and conditional requests. */
export interface FileDownload {
  readonly filename: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  /** Strong ETag, in quotes. */
  readonly etag: string;
  /** Returns the bytes from `start` to `end`, both inclusive. The caller calls either `open` or `close`. */
  readonly open: (range: { start: number; end: number }) => DownloadBytes;
  /** Has no effect after `open`. */
  readonly close: () => void;
}

/** A download generated while it is sent. */
export interface StreamDownload {
  readonly filename: string;
  readonly open: () => DownloadBytes;
  /** Called instead of `open` for a response without a body. */
  readonly close?: () => void;
}

/** A byte stream like those of Node.js, without its types. Destroyed when the client disconnects. */
export interface DownloadBytes extends AsyncIterable<Uint8Array> {
  destroy(error?: Error): unknown;
}

/** The definition of an operation. Path parameters have the form `:name`. Paths are relative to the API base unless `atOrigin`. */
export interface EndpointDefinition {
  readonly method: HttpMethod;
  readonly path: string;
  /** One sentence in the imperative. */
  readonly summary: string;
  readonly access: Access;
  /** For a public operation: the handler receives the caller, if there is a valid credential. */
  readonly seesCaller?: true;
  /** True for an operation that only direct clients on this machine, and clients of the admin listener, can call. Others get NOT_FOUND. */
  readonly localOnly?: true;
  /** Whether the path is relative to the origin instead of the API base. */
  readonly atOrigin?: boolean;
  /** The path contains a package name (`:scope/:name`, or `:name` with scope). Keys of other namespaces are rejected. */
  readonly namespaced?: boolean;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** A JSON body. */
  readonly body?: z.ZodType;
  /** Error codes that replace INVALID_REQUEST for invalid input fields, by field name. */
  readonly inputErrors?: Readonly<Record<string, ErrorCode>>;
  /** A multipart body with exactly one file part of this name. */
  readonly upload?: string;
  /** A multipart body with fields and files, complete before the handler is called. */
  readonly form?: FormDefinition;
  /** The success body is a download; this is its description. */
  readonly download?: string;
  /** The status of success. */
  readonly status: number;
  /** The JSON body of success; absent where `status` is 204 or `contentType` is set. */
  readonly result?: z.core.$ZodType;
  /** The content type of a text body that is not JSON. */
  readonly contentType?: string;
  /**
   * Events as `text/event-stream`: the only success body, or with `result` the body for `?follow=1` (see `followQuery`). Ids increase and
   * are also the SSE ids: with `Last-Event-ID`, the stream continues after that event.
   */
  readonly events?: z.ZodType<{ readonly id: number }>;
  /** The change type of a success, for the event stream and the audit log. The audit log also records rejected attempts. */
  readonly change?: ChangeType;
  /** Whether the operation adds code that runs in the daemon. `RUNTIME_PLUGIN_UPLOADS` restricts it. */
  readonly changesPlugin?: boolean;
  /** The success body contains a key. Never compressed: the compressed length could reveal the key (BREACH). */
  readonly returnsKey?: true;
  /** On success, issues the session cookie for the key in the body, or clears the cookie. */
  readonly session?: "issue" | "clear";
  /** Specific error codes. `errorCodesOf` adds those that follow from access, input and upload. */
  readonly errors?: readonly ErrorCode[];
}

/** Defines one operation. Routes, checks, OpenAPI and the client are derived from the definition. */
export function endpoint<const Definition extends EndpointDefinition>(definition: Definition): Definition {
  return definition;
}

/** The event source of a handler: called when the stream is open, ends after the signal aborts. */
export type EventFeed<Event> = (signal: AbortSignal) => AsyncIterable<readonly Event[]>;

type OutputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;
type InputOf<Schema> = Schema extends z.ZodType ? z.input<Schema> : undefined;

type FieldsOf<Definition extends EndpointDefinition> = Definition["form"] extends FormDefinition
  ? z.output<Definition["form"]["fields"]>
  : undefined;

/** The parsed input of a handler. */
export interface HandlerInput<Definition extends EndpointDefinition> {
  readonly params: OutputOf<Definition["params"]>;
  readonly query: OutputOf<Definition["query"]>;
  readonly body: OutputOf<Definition["body"]>;
  readonly file: Definition["upload"] extends string ? UploadedFile : undefined;
  readonly fields: FieldsOf<Definition>;
  readonly files: Definition["form"] extends FormDefinition ? readonly UploadedFile[] : undefined;
  /** The `Last-Event-ID` of a reconnecting client. */
  readonly lastEventId: Definition["events"] extends z.ZodType ? number | undefined : undefined;
}

/** The result of a handler. */
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

/** The input of a client call: only the parts that the operation has. */
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

/** A file to upload: name (the extension matters), size if known, and a byte stream. */
export interface UploadSource {
  readonly filename: string;
  readonly sizeBytes?: number | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Returns all permissions that a key needs for this operation. */
export function permissionsFor({ access }: Pick<EndpointDefinition, "access">): readonly Permission[] {
  if (access === "public" || access === "authenticated") return [];
  return typeof access === "string" ? [access] : access;
}

/** Returns all error codes of this operation, in the order of the checks. */
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
