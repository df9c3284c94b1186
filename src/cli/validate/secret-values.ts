/** Patterns of values that are always credentials. */
const credentialPatterns = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\b[rs]k_(?:live|test)_[0-9A-Za-z]{10,}/, // Secret keys of Stripe.
  /\bgh[opsur]_[0-9A-Za-z]{30,}|\bgithub_pat_\w{20,}/,
  /\bglpat-[\w-]{15,}/,
  /\bxox[abprs]-[\w-]{10,}/, // Slack
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/, // AWS
  /\bAIza[\w-]{35}/, // Google
  /\bsk-[\w-]{20,}/, // OpenAI, Anthropic
  /\bnpm_[0-9A-Za-z]{30,}/,
  /\brtk_[\w-]{20,}/, // this runtime
  /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\./, // JSON Web Token
  /^[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:[^\s/@]+@/i, // URL with a password
];
const secretName = /(?:^|_)(?:SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|KEY|DSN)(?:_|$)|APIKEY/i;
const publicName = /(?:^|_)(?:PUBLIC|PUB|VITE|ID|NAME|FILE|PATH|URL|TTL|HEADER|COOKIE)(?:_|$)/i;
/**
 * Minimum length of a value that counts as a secret because of its variable's name. Shorter values are usually placeholders and switches.
 */
const shortestNamedSecret = 8;

/** Whether a variable in a manifest is probably a secret, by its value or by its name. */
export function looksSecretValue(name: string, value: string): boolean {
  if (credentialPatterns.some((pattern) => pattern.test(value))) return true;
  return secretName.test(name) && !publicName.test(name) && value.length >= shortestNamedSecret && !/\s/.test(value);
}
