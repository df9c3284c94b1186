import { usageError } from "./command-error.js";

/** A key of ours or the most of one; short prefixes, which are safe to show, do not match. */
export const keyPattern = /rtk_[A-Za-z0-9_-]{20,}/;
const userInfoPattern = /^[a-z][a-z0-9+.-]*:\/\/[^/?#@]+@/i;

/** Refuses a command line that carries a secret: other users see it in the process list, and the shell keeps it. The secret is not repeated. */
export function refuseSecrets(words: readonly string[]): void {
  if (words.some((word) => keyPattern.test(word)))
    throw usageError(
      "the command line holds an API key; it is now in your shell's history and was visible to others on this machine",
      "revoke that key (runtimectl keys revoke ID), and pass keys by --key-file, --key-stdin, RUNTIMECTL_KEY or the prompt of auth login",
    );
  if (words.some((word) => userInfoPattern.test(word)))
    throw usageError("a URL on the command line holds a password", "sign in with runtimectl auth login instead");
}
