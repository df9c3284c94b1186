const maximumNameLength = 128;
const namePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Describes the names that `isSecretName` accepts, for messages. */
export const secretNameForm = `a name of at most ${maximumNameLength} letters, digits and underscores that does not start with a digit, such as STRIPE_KEY`;

/** Whether a text is the name of a secret: a name that every shell accepts for a variable. */
export function isSecretName(text: string): boolean {
  return text.length <= maximumNameLength && namePattern.test(text);
}

/** Maximum UTF-8 bytes of one value. */
const maximumSecretBytes = 32 * 1024;

// The start frame of an isolate must hold all values as JSON text; other control characters take six bytes there.
const forbiddenCharacters = /[^\P{Cc}\t\n\r]/u;

/** Returns why a text cannot be the value of a secret; undefined when it can. The message never contains the text. */
export function secretValueProblem(value: string): string | undefined {
  if (value === "") return "must not be empty";
  if (new TextEncoder().encode(value).length > maximumSecretBytes) return `must have at most ${maximumSecretBytes} bytes`;
  if (forbiddenCharacters.test(value))
    return "must not contain control characters other than tabs and line breaks; encode binary data as Base64";
  return value.isWellFormed() ? undefined : "must be valid Unicode";
}
