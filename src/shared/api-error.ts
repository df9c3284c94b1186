import { errorTable, type ErrorCode } from "./errors.js";

export interface ApiErrorOptions {
  /** Structured facts for the client, sent as `error.details`. */
  readonly details?: unknown;
  /** What really happened: logged, never sent. */
  readonly cause?: unknown;
  /** Sent as `Retry-After`. */
  readonly retryAfterSeconds?: number;
}

/** A failure with a published code: thrown by the daemon, rebuilt by the client from the answer. `message` is for the user. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: unknown;
  readonly retryAfterSeconds: number | undefined;
  /** Set by the client: the id under which the daemon logged the call. */
  requestId: string | undefined;

  constructor(code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ApiError";
    this.code = code;
    this.status = errorTable[code][0];
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  /** The body of every error answer. */
  toBody(): ErrorBody {
    return { error: { code: this.code, message: this.message, ...(this.details === undefined ? {} : { details: this.details }) } };
  }
}

export interface ErrorBody {
  error: { code: string; message: string; details?: unknown };
}
