/** The longest reason that lists and logs carry. */
const longestReason = 1000;

/** Why a plugin is left out, as a sentence for its author. */
export function describeError(error: unknown): string {
  const text = error instanceof Error ? messageOf(error) : `It threw ${String(error)}`;
  const sentence = /[.!?]$/.test(text) ? text : `${text}.`;
  return (sentence[0] ?? "").toUpperCase() + sentence.slice(1, longestReason);
}

/** The kinds that say nothing by their name are left out. */
function messageOf(error: Error): string {
  return error.name === "Error" || error.name === "TypeError" ? error.message : `${error.name}: ${error.message}`;
}
