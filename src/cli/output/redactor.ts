const keyPattern = /rtk_[A-Za-z0-9_-]{20,}/g;
const userInfoPattern = /:\/\/[^\s/?#@"]+@/g;
/** What is shorter is no secret worth the name, and would blank out ordinary words. */
const shortestSecretLength = 6;

/** Takes secrets out of what is said beside a command's result: every text that looks like a key, and those in use. */
export class Redactor {
  readonly #secrets: string[] = [];

  add(secret: string): void {
    if (secret.length >= shortestSecretLength) this.#secrets.push(secret);
  }

  /** The text with `[key]` where a secret was, and its URLs without passwords. */
  redact(text: string): string {
    const redacted = this.#secrets.reduce((rest, secret) => rest.replaceAll(secret, "[key]"), text);
    return redacted.replace(keyPattern, "[key]").replace(userInfoPattern, "://[hidden]@");
  }
}
