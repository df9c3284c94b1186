export type PrimaryErrorKind =
  /** No answer: what was asked may have been done or not. */
  | "unreachable"
  | "late"
  /** An answer, and nothing was changed. */
  | "unauthorised"
  | "refused"
  | "without-tables"
  /** Another one writes. */
  | "busy"
  /** Something that is no libSQL server, or a broken one. */
  | "unexpected";

/** Why the primary did not do what it was asked for. The message goes on after "the primary". */
export class PrimaryError extends Error {
  readonly kind: PrimaryErrorKind;

  private constructor(kind: PrimaryErrorKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "PrimaryError";
    this.kind = kind;
  }

  static unreachable(cause: unknown): PrimaryError {
    const { code, message } = cause as NodeJS.ErrnoException;
    return new PrimaryError("unreachable", `cannot be reached (${code ?? message})`, cause);
  }

  static late(deadlineMs: number): PrimaryError {
    return new PrimaryError("late", `did not answer within ${deadlineMs / 1000} s`);
  }

  static unauthorised(status: number): PrimaryError {
    return new PrimaryError(
      "unauthorised",
      `refuses the token (status ${status}): it is missing, wrong or expired; set RUNTIME_AUTH_DB_SYNC_TOKEN_FILE to a file with a good one, and start again`,
    );
  }

  static refused({ message }: { readonly message: string }): PrimaryError {
    return new PrimaryError(kindOf(message), `refused a statement (${message})`);
  }

  static unexpected(what: string): PrimaryError {
    return new PrimaryError("unexpected", `does not behave like a libSQL server: ${what}`);
  }
}

/** By SQLite's words: the server's codes do not tell these apart. */
function kindOf(message: string): PrimaryErrorKind {
  if (/no such table/i.test(message)) return "without-tables";
  return /database (?:table )?is locked|busy/i.test(message) ? "busy" : "refused";
}
