/** Patterns for credentials. A value that matches one of them is always a secret. */
const credentialPatterns = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\b[rs]k_(?:live|test)_[0-9A-Za-z]{10,}/, // Matches secret keys of Stripe.
  /\bgh[opsur]_[0-9A-Za-z]{30,}|\bgithub_pat_\w{20,}/,
  /\bglpat-[\w-]{15,}/,
  /\bxox[abprs]-[\w-]{10,}/, // Matches tokens of Slack.
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/, // Matches access keys of AWS.
  /\bAIza[\w-]{35}/, // Matches API keys of Google.
  /\bsk-[\w-]{20,}/, // Matches API keys of OpenAI and Anthropic.
  /\bnpm_[0-9A-Za-z]{30,}/,
  /\brtk_[\w-]{20,}/, // Matches API keys of the daemon.
  /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\./, // Matches JSON Web Tokens.
  /^[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:[^\s/@]+@/i, // Matches URLs that contain a password.
];
const secretName = /(?:^|_)(?:SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|KEY|DSN)(?:_|$)|APIKEY/i;
const publicName = /(?:^|_)(?:PUBLIC|PUB|VITE|ID|NAME|FILE|PATH|URL|TTL|HEADER|COOKIE)(?:_|$)/i;
/**
 * Minimum length of a value that counts as a secret only because of the name of its variable. A shorter value is usually a placeholder or a
 * switch.
 */
const shortestNamedSecret = 8;

/** Whether a variable in a manifest is probably a secret. Both the value and the name can be the reason. */
export function looksSecretValue(name: string, value: string): boolean {
  if (credentialPatterns.some((pattern) => pattern.test(value))) return true;
  return secretName.test(name) && !publicName.test(name) && value.length >= shortestNamedSecret && !/\s/.test(value);
}
