const keyPattern = /rtk_[A-Za-z0-9_-]{20,}/g;
const userInfoPattern = /:\/\/[^\s/?#@"]+@/g;
/** Minimum length of a secret that is replaced in the output. Replacing a shorter secret would also change ordinary words. */
const shortestSecretLength = 6;

/** Replaces registered secrets in the output, and every other text that looks like an API key. */
export class Redactor {
  readonly #secrets: string[] = [];

  add(secret: string): void {
    if (secret.length >= shortestSecretLength) this.#secrets.push(secret);
  }

  /** Replaces secrets with `[key]` and removes passwords from URLs. */
  redact(text: string): string {
    const redacted = this.#secrets.reduce((rest, secret) => rest.replaceAll(secret, "[key]"), text);
    return redacted.replace(keyPattern, "[key]").replace(userInfoPattern, "://[hidden]@");
  }
}
