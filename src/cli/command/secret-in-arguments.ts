import { usageError } from "./command-error.js";

/** Matches an API key: `rtk_` and at least 20 more characters. A shorter text, such as a key prefix, is not secret. */
export const keyPattern = /rtk_[A-Za-z0-9_-]{20,}/;
const userInfoPattern = /^[a-z][a-z0-9+.-]*:\/\/[^/?#@]+@/i;

/**
 * Throws a usage error if an argument contains an API key or password, because process lists and shell histories show arguments. The error
 * never contains the secret.
 */
export function refuseSecrets(words: readonly string[]): void {
  if (words.some((word) => keyPattern.test(word)))
    throw usageError(
      "the command line contains an API key; it is now in your shell history and was visible to other users of this machine",
      "revoke that key (runtimectl keys revoke ID); pass keys with --key-file, --key-stdin, RUNTIMECTL_KEY or the prompt of auth login",
    );
  if (words.some((word) => userInfoPattern.test(word)))
    throw usageError("a URL on the command line contains a password", "sign in with runtimectl auth login instead");
}
