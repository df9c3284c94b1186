import { sanitizeForTerminal } from "./sanitize-for-terminal.js";
import { stateNames, stateStyle, styled } from "./styles.js";

/** What is known about one thing: names and values. What is undefined is left out. */
export type Facts = readonly (readonly [name: string, value: string | undefined])[];

/** Those that are known, fit to be shown. */
export function knownFacts(facts: Facts): [name: string, value: string][] {
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, sanitizeForTerminal(value)]]));
}

/** Names and values in two columns, for people; states in color. */
export function factLines(facts: Facts, style: { readonly hasColor: boolean }): string {
  const known = knownFacts(facts);
  const width = Math.max(...known.map(([name]) => name.length));
  return known
    .map(([name, value]) => {
      const shown = styled(stateNames.has(name) ? stateStyle(value) : undefined, value, style);
      return `${styled("bold", name, style)}${" ".repeat(width - name.length)}  ${shown}`.trimEnd();
    })
    .join("\n");
}
