const keyPattern = /rtk_[A-Za-z0-9_-]{20,}/g;
const userInfoPattern = /:\/\/[^\s/?#@"]+@/g;
/** Minimum length of a secret: shorter ones would replace ordinary words. */
const shortestSecretLength = 6;

/** Removes secrets from output: registered secrets, and all text that looks like a key. */
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
