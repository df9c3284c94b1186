const maximumNameLength = 128;
const namePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Description of the names that `isSecretName` accepts, for messages. */
export const secretNameForm = `a name of at most ${maximumNameLength} letters, digits and underscores without a digit at the start, such as STRIPE_KEY`;

/** Whether a text is a valid name of a secret. Every shell accepts a valid name as the name of an environment variable. */
export function isSecretName(text: string): boolean {
  return text.length <= maximumNameLength && namePattern.test(text);
}

/** Maximum length of the value of a secret in UTF-8 bytes. */
const maximumSecretBytes = 32 * 1024;

// Matches control characters that the value of a secret cannot contain. Each would take 6 bytes as JSON, and the first frame to an isolate
// must have room for all values.
const forbiddenCharacters = /[^\P{Cc}\t\n\r]/u;

/** Returns the reason why a text cannot be the value of a secret. Undefined for a valid value. The reason never contains the value. */
export function secretValueProblem(value: string): string | undefined {
  if (value === "") return "must not be empty";
  if (new TextEncoder().encode(value).length > maximumSecretBytes) return `must have at most ${maximumSecretBytes} bytes`;
  if (forbiddenCharacters.test(value))
    return "must not contain control characters other than tabs and line breaks; encode binary data as Base64";
  return value.isWellFormed() ? undefined : "must be valid Unicode";
}
