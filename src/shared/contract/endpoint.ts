import type * as z from "zod";
import type { ErrorCode } from "../errors.js";
import type { Permission } from "../permissions.js";
import type { ChangeType } from "./changes.js";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * The callers that are allowed to call an operation: all, those with any valid credential, or keys with one or all of several permissions.
 */
export type Access = "public" | "authenticated" | Permission | readonly Permission[];

/** A multipart body of text fields and any number of files. */
export interface FormDefinition {
  /** Name of the file parts. */
  readonly files: string;
  /** The text fields. A repeatable field accepts a string or a list. */
  readonly fields: z.ZodObject;
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

type InputOf<Schema> = Schema extends z.ZodType ? z.input<Schema> : undefined;

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
