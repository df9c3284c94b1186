import { ApiError } from "../../../shared/api-error.js";
import type { NewKey } from "../../../shared/contract/keys.js";
import type { Context } from "../../command/command.js";
import { endOn, pluralize, timeFields } from "../../output/format.js";
import { sanitizeForTerminal } from "../../output/sanitize-for-terminal.js";
import { shellWord } from "../../output/shell-word.js";
import { open, rm, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { CommandError, usageError } from "../../command/command-error.js";
import { exitCodes } from "../../command/exit-codes.js";

/** The fields of the JSON document that describes a new key. */
export const newKeyFields = [
  "id",
  "name",
  "key",
  "keyFile",
  "keyPrefix",
  "role",
  "permissions",
  "namespaces",
  "createdAt",
  "createdAtSeconds",
  "expiresAt",
  "expiresAtSeconds",
] as const;
/** The flag `--out` of commands that create a key. */
export const outOption = {
  flags: "-o, --out <file>",
  description: "Write the key to this new file (mode 0600) instead of the terminal",
};

interface MadeKey<Made extends NewKey> {
  readonly make: () => Promise<Made>;
  /** Name of the file to which the command writes the key. If undefined, the command prints the key to stdout. */
  readonly out: string | undefined;
  /** Lifetime of the key as the user requested it, such as `6m` for 6 months. Undefined for a key that replaces another key. */
  readonly lifetime?: string | undefined;
  /** Origin of the daemon that created the key. */
  readonly origin: string;
  /** Returns further fields for the JSON document of the new key, and a further note. */
  readonly more?: (made: Made) => { readonly fields: object; readonly note: string };
}

/**
 * Creates an API key and shows it once: on stdout, or in a new file. The file is created before the key, so that no key is lost if the file
 * cannot be created.
 */
export async function showNewKey<Made extends NewKey>(
  context: Context,
  { make, out, lifetime, origin, more }: MadeKey<Made>,
): Promise<void> {
  const { output } = context;
  const file = await KeyFile.create(context, out);
  const made = await make().catch(async (error: unknown) => {
    await file?.discard();
    if (!(error instanceof ApiError)) output.note("the key may have been created; to check: runtimectl keys list");
    throw error;
  });
  const { id, name, key, keyPrefix, role, permissions, namespaces, createdAt, expiresAt } = made;
  if (context.environment.GITHUB_ACTIONS === "true") output.mask(key);
  await file?.write(key, id);
  const ends = expiresAt === undefined ? "never expires" : `expires ${lifetimeText(lifetime)}${endOn(expiresAt, Date.now())}`;
  const { fields = {}, note = "" } = more?.(made) ?? {};
  output.note(
    `key ${id}: ${sanitizeForTerminal(name)}, ${role}, namespaces ${sanitizeForTerminal(namespaces.join(" "))}, ${ends}\n${note === "" ? "" : `${note}\n`}` +
      (file ? `the key is only in ${file.path}` : "store the key now, it is not shown again:"),
  );
  output.result(
    {
      id,
      name,
      keyPrefix,
      role,
      permissions,
      namespaces,
      ...(file ? { keyFile: file.path } : { key }),
      ...timeFields("createdAt", createdAt),
      ...timeFields("expiresAt", expiresAt),
      ...fields,
    },
    file ? undefined : key,
  );
  const keyVariable = file ? `RUNTIMECTL_KEY_FILE=${shellWord(file.path)}` : `RUNTIMECTL_KEY=${shellWord(key)}`;
  output.reveal(`to use it in a shell:\nexport RUNTIMECTL_URL=${shellWord(origin)} ${keyVariable}\nto use it in CI: runtimectl help ci`);
}

const lifetimeUnits: Readonly<Record<string, string>> = { min: "minute", h: "hour", d: "day", w: "week", m: "month", y: "year" };

/**
 * Returns a lifetime such as `1m` in words. A user can misread the abbreviation, because `m` means months in lifetimes and minutes in all
 * other durations.
 */
function lifetimeText(lifetime = ""): string {
  const [, count, unit = ""] = /^(\d+)(min|[hdwmy])$/.exec(lifetime) ?? [];
  const noun = lifetimeUnits[unit];
  return noun === undefined ? "" : `in ${pluralize(Number(count), noun)}, on `;
}

/** The file for a new API key. The command creates the file before the key, so that no key is lost if the path is not writable. */
class KeyFile {
  readonly path: string;
  readonly #handle: FileHandle;

  private constructor(file: string, handle: FileHandle) {
    this.path = file;
    this.#handle = handle;
  }

  /** Creates the file for an API key. Returns undefined if the user selected no file name. */
  static async create({ workingDirectory }: Context, name: string | undefined): Promise<KeyFile | undefined> {
    if (name === undefined) return undefined;
    const file = path.resolve(workingDirectory, name);
    const handle = await open(file, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
      throw usageError(`--out ${file}: ${error.code === "EEXIST" ? "the file already exists" : error.message}`);
    });
    return new KeyFile(file, handle);
  }

  /** Writes the API key to the file. If the write fails, throws KEY_LOST with the id of the key. */
  async write(key: string, id: number): Promise<void> {
    try {
      await this.#handle.writeFile(`${key}\n`);
      await this.#handle.sync();
      await this.#handle.close();
    } catch (cause) {
      throw new CommandError("KEY_LOST", `key ${id} was created, but ${this.path} cannot be written (${(cause as Error).message})`, {
        exitCode: exitCodes.failed,
        hint: `the key was not shown; to revoke it: runtimectl keys revoke ${id}`,
        cause,
      });
    }
  }

  async discard(): Promise<void> {
    await this.#handle.close();
    await rm(this.path, { force: true });
  }
}
