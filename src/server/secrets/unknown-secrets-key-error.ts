import type { SecretsKeySource } from "../config/secrets-key.js";

/** Thrown when stored secrets are encrypted with keys that this daemon does not have. The message is one line for the operator. */
export class UnknownSecretsKeyError extends Error {
  constructor(keyIds: readonly string[], { name, file }: SecretsKeySource) {
    super(
      `secrets of the primary are encrypted with the key ${keyIds.join(", ")}, which is not in ${name} (${file}): give this daemon the systemd credential secrets-key, or the RUNTIME_SECRETS_KEY_FILE, of the other daemons.`,
    );
    this.name = "UnknownSecretsKeyError";
  }
}
