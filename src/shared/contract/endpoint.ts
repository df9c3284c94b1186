import type * as z from "zod";
import type { ErrorCode } from "../errors.js";
import type { Permission } from "../permissions.js";
import type { ChangeType } from "./changes.js";
import { outdatedErrors } from "./outdated-errors.js";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * The callers that are allowed to call an operation: all callers, callers with a valid credential, or keys with the given permissions. If
 * the value is a list, the key needs all of these permissions.
 */
export type Access = "public" | "authenticated" | Permission | readonly Permission[];

/** A multipart request body with text fields and any number of files. */
export interface FormDefinition {
  /** Name of the multipart parts that contain files. */
  readonly files: string;
  /** The text fields of the multipart body. A repeatable field accepts a string or a list. */
  readonly fields: z.ZodObject;
}

/**
 * The definition of an API operation. A path parameter has the form `:name`. The path is relative to the API base, or to the origin if
 * `atOrigin` is set.
 */
export interface EndpointDefinition {
  readonly method: HttpMethod;
  readonly path: string;
  /** Description of the operation as one sentence in the imperative. */
  readonly summary: string;
  readonly access: Access;
  /** True if every caller is allowed to call the operation, and the handler receives the principal of a caller with a valid credential. */
  readonly seesCaller?: true;
  /**
   * True for an operation that only direct clients on this machine and clients of the admin listener can call. Other clients receive
   * NOT_FOUND.
   */
  readonly localOnly?: true;
  /** True if the path is relative to the origin, and false if it is relative to the API base. */
  readonly atOrigin?: boolean;
  /**
   * True if the path contains a package name, as `:scope/:name` or as a `:name` that includes the scope. The daemon then rejects keys that
   * do not cover the package's namespace.
   */
  readonly namespaced?: boolean;
  readonly params?: z.ZodObject;
  readonly query?: z.core.$ZodObject;
  /** Schema of the JSON request body. */
  readonly body?: z.ZodType;
  /** Error codes for invalid input fields, by field name. Fields without an entry have the error code INVALID_REQUEST. */
  readonly inputErrors?: Readonly<Record<string, ErrorCode>>;
  /** Name of the multipart part that contains the uploaded file. Set only for an operation that receives exactly one file. */
  readonly upload?: string;
  /** A multipart body with text fields and files. The daemon calls the handler after it has received the whole body. */
  readonly form?: FormDefinition;
  /** Description of the downloaded file. Set if the body of a successful response is a download. */
  readonly download?: string;
  /** HTTP status of a successful response. */
  readonly status: number;
  /** Schema of the JSON body of a successful response. Absent if `status` is 204 or `contentType` is set. */
  readonly result?: z.core.$ZodType;
  /** Content type of a successful response with a text body other than JSON. */
  readonly contentType?: string;
  /**
   * Schema of the events that the operation sends as `text/event-stream`. If `result` is also set, `?follow=1` requests events. The ids in the
   * stream are texts. With `Last-Event-ID`, a client receives the events after that id.
   */
  readonly events?: z.ZodType<{ readonly id: number }>;
  /**
   * Type of the change that a successful call makes. The daemon writes this type to the event stream and the audit log. The audit log also
   * contains rejected calls.
   */
  readonly change?: ChangeType;
  /** True if the operation changes plugin code, which runs in the daemon. `RUNTIME_PLUGIN_UPLOADS` restricts such operations. */
  readonly changesPlugin?: boolean;
  /**
   * True if a successful response contains an API key. The daemon does not compress the response, because the compressed length could
   * reveal parts of the key (BREACH attack).
   */
  readonly returnsKey?: true;
  /**
   * Effect of a successful call on the session cookie. `issue`: the response sets the cookie for the key in the request body. `clear`: the
   * response deletes the cookie.
   */
  readonly session?: "issue" | "clear";
  /**
   * True if the daemon asks the other daemons with the same primary, with the caller's key. The handler of this operation receives the key.
   */
  readonly asksInstances?: true;
  /** Error codes that only this operation has. `errorCodesOf` adds the codes that follow from access, input and upload. */
  readonly errors?: readonly ErrorCode[];
}

/** Defines one API operation. Routes, input checks, the OpenAPI document and the client are derived from the definition. */
export function endpoint<const Definition extends EndpointDefinition>(definition: Definition): Definition {
  return definition;
}

type InputOf<Schema> = Schema extends z.core.$ZodType ? z.input<Schema> : undefined;

/** The input of a client call. Contains those of `params`, `query`, `body`, `file`, `fields` and `files` that the operation accepts. */
export type CallInput<Definition extends EndpointDefinition> = (Definition["params"] extends z.ZodType
  ? { params: InputOf<Definition["params"]> }
  : unknown) &
  (Definition["query"] extends z.core.$ZodType ? { query?: InputOf<Definition["query"]> } : unknown) &
  (Definition["body"] extends z.ZodType ? { body: InputOf<Definition["body"]> } : unknown) &
  (Definition["upload"] extends string ? { file: UploadSource } : unknown) &
  (Definition["form"] extends FormDefinition ? { fields: z.input<Definition["form"]["fields"]>; files: readonly UploadSource[] } : unknown);

export type CallOutput<Definition extends EndpointDefinition> = Definition["result"] extends z.core.$ZodType
  ? z.output<Definition["result"]>
  : Definition["contentType"] extends string
    ? string
    : undefined;

/** A file to upload, with its name, its size if the size is known, and its bytes as a stream. */
export interface UploadSource {
  readonly filename: string;
  readonly sizeBytes?: number | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Returns all permissions that a key needs to call the operation. */
export function permissionsFor({ access }: Pick<EndpointDefinition, "access">): readonly Permission[] {
  if (access === "public" || access === "authenticated") return [];
  return typeof access === "string" ? [access] : access;
}

/** Returns all error codes of the operation, in the order in which the daemon checks for them. */
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
  if (definition.events) codes.push("TOO_MANY_STREAMS", "NOT_READY");
  codes.push(...Object.values(definition.inputErrors ?? {}), ...(definition.errors ?? []));
  if (definition.method !== "GET") {
    const { index, packages } = outdatedErrors;
    if (codes.some((code) => index.has(code) || packages.has(code))) codes.push("KEY_STORE_UNAVAILABLE", "INDEX_DIVERGED");
    if (codes.some((code) => packages.has(code))) codes.push("PACKAGE_UNAVAILABLE");
  }
  codes.push("TOO_MANY_OPEN_FILES", "INTERNAL_ERROR");
  return [...new Set(codes)];
}
