/** The longest reason that lists and logs carry. */
const longestReason = 1000;

/** Why a plugin is left out, as a sentence for its author. */
export function describeError(error: unknown): string {
  const text = textOf(error);
  const sentence = /[.!?]$/.test(text) ? text : `${text}.`;
  return (sentence[0] ?? "").toUpperCase() + sentence.slice(1, longestReason);
}

/** What is thrown may be anything, and even what cannot be looked at. */
function textOf(error: unknown): string {
  try {
    return error instanceof Error ? messageOf(error) : `It threw ${String(error)}`;
  } catch {
    return "It threw something that cannot be shown";
  }
}

/** The kinds that say nothing by their name are left out. */
function messageOf({ name, message }: { name: unknown; message: unknown }): string {
  return name === "Error" || name === "TypeError" ? String(message) : `${String(name)}: ${String(message)}`;
}
