import { errorTable, type ErrorCode } from "./errors.js";

export interface ApiErrorOptions {
  /** Structured details for the client, sent as `error.details`. */
  readonly details?: unknown;
  /** The error that caused this error. The daemon logs it and never sends it to the client. */
  readonly cause?: unknown;
  /** Seconds for the `Retry-After` response header. */
  readonly retryAfterSeconds?: number;
  /** HTTP methods for the `Allow` response header. */
  readonly allow?: string;
}

/** An error with a published error code and a `message` for the user. The daemon throws it; the client recreates it from the response. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: unknown;
  readonly retryAfterSeconds: number | undefined;
  readonly allow: string | undefined;
  /** The request id of the failed request, as in the daemon's log. Set by the client. */
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

  /** Returns the body of an error response. */
  toBody(): ErrorBody {
    return { error: { code: this.code, message: this.message, ...(this.details === undefined ? {} : { details: this.details }) } };
  }
}

export interface ErrorBody {
  error: { code: string; message: string; details?: unknown };
}
