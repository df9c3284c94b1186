import { open, rm, type FileHandle } from "node:fs/promises";
import { hostname, userInfo } from "node:os";
import path from "node:path";
import { create } from "../../../shared/contract/keys.js";
import { isNamespace } from "../../../shared/namespace.js";
import { parseLifetimeSeconds } from "../../../shared/duration.js";
import { permissions, roles, type Permission, type Role } from "../../../shared/permissions.js";
import { usageError } from "../../command-error.js";
import { defineCommand } from "../../command.js";
import { connect } from "../../connection.js";
import { timeFields, toDay } from "../../dates.js";

const defaultLifetime = "90d";

interface Options {
  readonly role?: Role;
  readonly name?: string;
  readonly expires?: string;
  readonly permission?: readonly Permission[];
  readonly namespace?: readonly string[];
  readonly out?: string;
}

export const command = defineCommand<[], Options>({
  options: [
    { flags: "--role <role>", description: "What the key may do (needed, unless --permission is given)", choices: roles },
    { flags: "--name <name>", description: "What lists show (default: role, user and machine)" },
    { flags: "--expires <time>", description: `How long it is valid: 30d, 2w, 6m (months), 1y, never (default: ${defaultLifetime})` },
    { flags: "--permission <permission>", description: "With the role custom: one permission; repeat for more", repeatable: true },
    { flags: "--namespace <@scope>", description: "Only packages of this @scope; repeat for more", repeatable: true },
    { flags: "-o, --out <file>", description: "Write the key to this new file (mode 0600) instead of the terminal" },
  ],
  examples: [
    ["runtimectl keys create --role editor", "90 days, a name made up; both are shown"],
    ["runtimectl keys create --role editor --namespace @team --expires 1y", "for one namespace, a year"],
    ["runtimectl keys create --permission workers:read --permission workers:install -o ci.key", "for CI, straight into a file"],
  ],
  notes: "The key goes to stdout, everything else to stderr. It is shown once; the daemon keeps only a hash.",
  async run(context, _values, options) {
    const body = toBody(options);
    const { client } = await connect(context, { keys: { create } });
    const file = options.out === undefined ? undefined : await KeyFile.create(path.resolve(context.workingDirectory, options.out));
    const { data } = await client.keys.create({ body }).catch(async (error: unknown) => {
      await file?.discard();
      throw error;
    });
    const { key, createdAt, expiresAt, ...shown } = data;
    await file?.write(`${key}\n`);
    context.output.note(
      `key ${data.id}: ${data.name}, ${data.role}, namespaces ${data.namespaces.join(" ")}, ` +
        `${expiresAt === undefined ? "never ends" : `ends ${toDay(expiresAt)}`}\n` +
        (file ? `the key is in ${file.path}, and nowhere else` : "keep it now, it is not shown again:"),
    );
    context.output.result(
      {
        ...shown,
        ...(file ? { keyFile: file.path } : { key }),
        ...timeFields("createdAt", createdAt),
        ...timeFields("expiresAt", expiresAt),
      },
      file ? undefined : key,
    );
  },
});

function toBody(options: Options) {
  const role = options.role ?? (options.permission ? "custom" : undefined);
  if (role === undefined) throw usageError("which role?", `--role ${roles.join("|")}`);
  const unknown = options.permission?.find((permission) => !permissions.includes(permission));
  if (unknown !== undefined) throw usageError(`there is no permission ${unknown}`, permissions.join(" "));
  if (role === "custom" && options.permission === undefined)
    throw usageError("the role custom needs permissions", "add --permission, such as --permission workers:read");
  if (role !== "custom" && options.permission !== undefined)
    throw usageError(`the role ${role} brings its own permissions`, "use --role custom, or leave --permission out");
  const badNamespace = options.namespace?.find((namespace) => !isNamespace(namespace));
  if (badNamespace !== undefined) throw usageError(`${JSON.stringify(badNamespace)} is not a namespace`, "namespaces look like @team");
  const expiresIn = options.expires ?? defaultLifetime;
  if (expiresIn !== "never" && parseLifetimeSeconds(expiresIn) === undefined)
    throw usageError(`--expires: ${expiresIn} is not a lifetime`, "such as 30d, 2w, 6m (months), 1y, or never");
  return {
    name: options.name ?? madeUpName(role),
    role,
    expiresIn,
    ...(options.permission === undefined ? {} : { permissions: [...options.permission] }),
    ...(options.namespace === undefined ? {} : { namespaces: [...options.namespace] }),
  };
}

/** Says where the key comes from, so that a list of keys can be cleaned up: `editor ann@laptop 2026-01-31`. */
function madeUpName(role: string): string {
  const from = `${userInfo().username}@${hostname()}`.replace(/[^\x21-\x7e]/g, "").slice(0, 60);
  return `${role} ${from} ${new Date().toISOString().slice(0, 10)}`;
}

/** The file for a secret. It is made before the key, so that a key never exists that could not be kept. */
class KeyFile {
  readonly path: string;
  readonly #handle: FileHandle;

  private constructor(file: string, handle: FileHandle) {
    this.path = file;
    this.#handle = handle;
  }

  static async create(file: string): Promise<KeyFile> {
    const handle = await open(file, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
      throw usageError(`--out ${file}: ${error.code === "EEXIST" ? "the file is there already" : error.message}`);
    });
    return new KeyFile(file, handle);
  }

  async write(text: string): Promise<void> {
    await this.#handle.writeFile(text);
    await this.#handle.sync();
    await this.#handle.close();
  }

  async discard(): Promise<void> {
    await this.#handle.close();
    await rm(this.path, { force: true });
  }
}
