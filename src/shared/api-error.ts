import { errorTable, type ErrorCode } from "./errors.js";

export interface ApiErrorOptions {
  /** Structured details for the client, sent as `error.details`. */
  readonly details?: unknown;
  /** The internal cause: logged, never sent. */
  readonly cause?: unknown;
  /** Sent as `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** Sent as `Allow`. */
  readonly allow?: string;
}

/** An error with a published code. The daemon throws it; the client recreates it from the response. `message` is for the user. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: unknown;
  readonly retryAfterSeconds: number | undefined;
  readonly allow: string | undefined;
  /** Set by the client: the request id in the daemon's log. */
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
