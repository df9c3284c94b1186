import { nearestWord } from "../../shared/nearest-word.js";
import type { Config } from "./config.js";
import { variables, type Environment } from "./config-variables.js";

/** Minimum length of a root key in characters. Shorter keys could be guessed. `npm start` creates a key of 43 characters. */
const leastRootKeyLength = 32;

const prefix = "RUNTIME_";

/** Returns warnings about valid settings that are probably mistakes. */
export function configWarnings(environment: Environment, { rootKey }: Pick<Config, "rootKey">): string[] {
  const known = variables.map(({ name }) => name);
  const unknown = Object.keys(environment).filter((name) => name.startsWith(prefix) && !known.includes(name));
  const ownNames = known.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  const warnings = unknown.map((name) => {
    // Compares the names without the prefix RUNTIME_, because all names begin with it.
    const own = name.slice(prefix.length);
    const nearest = nearestWord(own, ownNames, 1 / 3) ?? ownNames.find((other) => own.startsWith(other));
    return `${name} is set, but runtimed has no such variable${nearest === undefined ? "" : `; did you mean ${prefix}${nearest}?`}`;
  });
  if (rootKey !== undefined && rootKey.length < leastRootKeyLength)
    warnings.push(`the root key has ${rootKey.length} characters: use a random key of at least ${leastRootKeyLength} characters`);
  return warnings;
}
