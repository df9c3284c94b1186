/** Other words for nouns, for fingers that know them from elsewhere. Help, completion and suggestions name the nouns themselves. */
export const nounAliases: Readonly<Record<string, string>> = { worker: "workers", app: "workers", plugin: "plugins", key: "keys" };

/** Other words for verbs: each stands for the first of these that the noun has, unless the noun has a verb of that name itself. */
export const verbAliases: Readonly<Record<string, readonly string[]>> = { ls: ["list"], rm: ["delete", "revoke"] };

/** Words that stand for a noun with its verb. */
export const commandAliases: Readonly<Record<string, readonly [noun: string, verb: string]>> = { rollback: ["workers", "rollback"] };
