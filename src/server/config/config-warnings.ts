import { nearestWord } from "../../shared/nearest-word.js";
import type { Config } from "./config.js";
import { variables, type Environment } from "./config-variables.js";

/** Minimum length of a root key in characters. Shorter keys could be guessed. `npm start` creates a key of 43 characters. */
const leastRootKeyLength = 32;

/** Returns warnings about valid settings that are probably mistakes, such as an unknown variable with the prefix `RUNTIME_`. */
export function configWarnings(environment: Environment, { rootKey }: Pick<Config, "rootKey">): string[] {
  const known = variables.map(({ name }) => name);
  const unknown = Object.keys(environment).filter((name) => name.startsWith("RUNTIME_") && !known.includes(name));
  const warnings = unknown.map((name) => {
    const nearest = nearestWord(name, known);
    return `${name} is set and is no variable of runtimed${nearest === undefined ? "" : `; is ${nearest} meant?`}`;
  });
  if (rootKey !== undefined && rootKey.length < leastRootKeyLength)
    warnings.push(`the root key has ${rootKey.length} characters: use a random one of at least ${leastRootKeyLength}`);
  return warnings;
}
