import { errorTable, type ErrorCode } from "./errors.js";

export interface ApiErrorOptions {
  /** Structured details for the client, sent as `error.details`. */
  readonly details?: unknown;
  /** The error that led to this error. The daemon writes the cause to its log and never sends it to the client. */
  readonly cause?: unknown;
  /** Value of the `Retry-After` response header in seconds. */
  readonly retryAfterSeconds?: number;
  /** Value of the `Allow` response header: the HTTP methods that the path supports. */
  readonly allow?: string;
}

/**
 * An error with a published error code and a `message` for the user. The daemon throws the error, and the client creates it again from the
 * response.
 */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: unknown;
  readonly retryAfterSeconds: number | undefined;
  readonly allow: string | undefined;
  /** Id of the failed request, under which the daemon's log contains the request. The client sets this field from the response. */
  requestId: string | undefined;

  constructor(code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ApiError";
    this.code = code;
    this.status = errorTable[code][0];
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.allow = options.allow;
  }

  /** Returns the JSON body of the response that reports this error. */
  toBody(): ErrorBody {
    return { error: { code: this.code, message: this.message, ...(this.details === undefined ? {} : { details: this.details }) } };
  }
}

export interface ErrorBody {
  error: { code: string; message: string; details?: unknown };
}
