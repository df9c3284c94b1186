export type RegistryErrorKind =
  /** No connection, or a lost connection. */
  | "unreachable"
  /** No response or no progress within the limit. */
  | "late"
  /** The registry rejects the credential. */
  | "unauthorised"
  /** The registry does not have the blob. */
  | "missing"
  /** The received bytes do not have the expected size or digest. */
  | "wrong-content"
  /** The response does not come from a working registry. */
  | "unexpected";

/** Error of a call to the registry. The words "the registry" precede the message, so the message begins with a verb. */
export class RegistryError extends Error {
  readonly kind: RegistryErrorKind;

  constructor(kind: RegistryErrorKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "RegistryError";
    this.kind = kind;
  }

  static unreachable(cause: unknown): RegistryError {
    const { code, message } = cause as NodeJS.ErrnoException;
    return new RegistryError("unreachable", `cannot be reached (${code ?? message})`, cause);
  }

  static late(limitMs: number): RegistryError {
    return new RegistryError("late", `sent or received nothing for ${limitMs / 1000} s`);
  }

  static unexpected(what: string): RegistryError {
    return new RegistryError("unexpected", `does not behave like an OCI registry: ${what}`);
  }
}
