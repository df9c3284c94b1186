import { permissions, pluginsRunAsDaemon, roles, type Permission, type Role } from "../../../shared/permissions.js";
import { hostname, userInfo } from "node:os";
import { create, usualLifetime } from "../../../shared/contract/keys.js";
import { show } from "../../../shared/contract/session.js";
import { isNamespace } from "../../../shared/namespace.js";
import { parseLifetimeSeconds } from "../../../shared/duration.js";
import { usageError } from "../../command/command-error.js";
import { defineCommand, type Context } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { askText } from "../../output/prompts.js";
import { outOption, showNewKey, newKeyFields } from "./new-key-output.js";

/** The values of `--preset`. Each preset is a common kind of key with only the permissions that its purpose requires. */
export const keyPresets = {
  ci: {
    meaning: "for a pipeline that uploads workers of one namespace",
    role: "custom",
    permissions: ["workers:read", "workers:install"],
    needsNamespace: true,
  },
  viewer: { meaning: "for read-only access", role: "viewer" },
  ops: {
    meaning: "for on-call work: view, restart, enable, disable and roll back workers, without deletions and new keys",
    role: "custom",
    permissions: ["workers:read", "workers:install", "workers:restart", "plugins:read", "keys:read"],
  },
} as const satisfies Record<string, KeyPreset>;
const presetNames = Object.keys(keyPresets) as KeyPresetName[];
export const command = defineCommand<[], Options>({
  options: [
    { flags: "--role <role>", description: "Role of the key (required without --preset or --permission)", choices: roles },
    { flags: "--preset <preset>", description: `Permissions for a purpose: ${presetNames.join(", ")}`, choices: presetNames },
    { flags: "--name <name>", description: "Name of the key (default: preset or role, user and machine)" },
    {
      flags: "--expires <time>",
      description: `Lifetime: 30min, 12h, 30d, 2w, 6m (months), 1y, never (default: 90d, or less if your own key expires earlier)`,
    },
    { flags: "--permission <permission>", description: "With the role custom: add a permission; repeatable", repeatable: true },
    { flags: "--namespace <@scope>", description: "Restrict the key to packages of this @scope; repeatable", repeatable: true },
    outOption,
  ],
  fields: newKeyFields,
  examples: [
    ["runtimectl keys create --role editor", "create a key with a generated name, valid for 90 days"],
    ["runtimectl keys create --preset ci --namespace @team --out ci.key", "create a key for a pipeline and write it to a file"],
    ["runtimectl keys create --role editor --namespace @team --expires 1y", "create a key for one namespace, valid for 1 year"],
    ["runtimectl keys create --permission workers:read --permission workers:restart", "create a key with exactly these permissions"],
  ],
  notes:
    `${pluginsRunAsDaemon}\n` +
    "The key goes to stdout, everything else to stderr. The key is shown once: the daemon stores only a hash.\n" +
    presetNames.map((name) => `Preset ${name}: ${presetOf(name).meaning} (${describePreset(name)}).`).join("\n"),
  async run(context, _values, options) {
    const { expiresIn, ...chosen } = await toBody(context, options);
    const { client, origin } = await connect(context, { keys: { create }, session: { show } });
    const lifetime = expiresIn ?? usualLifetime((await client.session.show()).principal, Date.now() / 1000);
    const make = async () => (await client.keys.create({ body: { ...chosen, expiresIn: lifetime } })).data;
    await showNewKey(context, { make, out: options.out, lifetime, origin });
  },
});

interface KeyPreset {
  /** Purpose of the preset, as a phrase in the help. */
  readonly meaning: string;
  readonly role: Role;
  /** Permissions of the key. Set only if `role` is `custom`. */
  readonly permissions?: readonly Permission[];
  /** Whether a key with this preset must be restricted to a namespace. */
  readonly needsNamespace?: boolean;
}

export type KeyPresetName = keyof typeof keyPresets;

export function presetOf(name: KeyPresetName): KeyPreset {
  return keyPresets[name];
}

interface Options {
  readonly role?: Role;
  readonly preset?: KeyPresetName;
  readonly name?: string;
  readonly expires?: string;
  readonly permission?: readonly Permission[];
  readonly namespace?: readonly string[];
  readonly out?: string;
}

function describePreset(name: KeyPresetName): string {
  const { role, permissions: chosen, needsNamespace } = presetOf(name);
  return `${chosen?.join(" ") ?? `role ${role}`}${needsNamespace ? "; requires --namespace" : ""}`;
}

async function toBody(context: Context, options: Options) {
  const { role, permissions: chosen } = grantOf(options);
  const { expires: expiresIn } = options;
  if (expiresIn !== undefined && expiresIn !== "never" && parseLifetimeSeconds(expiresIn) === undefined)
    throw usageError(`--expires: ${expiresIn} is not a lifetime`, "use a lifetime such as 30min, 12h, 30d, 2w, 6m (months), 1y, or never");
  const namespaces = await namespacesOf(context, options);
  return {
    name: options.name ?? madeUpName(options.preset ?? role),
    role,
    expiresIn,
    ...(chosen === undefined ? {} : { permissions: [...chosen] }),
    ...(namespaces === undefined ? {} : { namespaces: [...namespaces] }),
  };
}

function grantOf(options: Options): { role: Role; permissions: readonly Permission[] | undefined } {
  if (options.preset !== undefined) {
    if (options.role !== undefined || options.permission !== undefined)
      throw usageError(
        `--preset ${options.preset} has fixed permissions and cannot be used with --role or --permission`,
        "remove --role and --permission, or --preset",
      );
    const { role, permissions: brought } = presetOf(options.preset);
    return { role, permissions: brought };
  }
  const role = options.role ?? (options.permission ? "custom" : undefined);
  if (role === undefined)
    throw usageError(
      "a new key needs --role, --permission or --preset",
      `use --role ${roles.join("|")}, or --preset ${presetNames.join("|")}`,
    );
  const unknown = options.permission?.find((permission) => !permissions.includes(permission));
  if (unknown !== undefined) throw usageError(`--permission: ${JSON.stringify(unknown)} is not one of ${permissions.join(", ")}`);
  if (role === "custom" && options.permission === undefined)
    throw usageError("--role custom requires a list of permissions", "add --permission, such as --permission workers:read");
  if (role !== "custom" && options.permission !== undefined)
    throw usageError(
      `--role ${role} has fixed permissions and cannot be used with --permission`,
      "use --role custom, or remove --permission",
    );
  return { role, permissions: options.permission };
}

async function namespacesOf(context: Context, { namespace, preset }: Options): Promise<readonly string[] | undefined> {
  const isMissing = namespace === undefined && preset !== undefined && presetOf(preset).needsNamespace;
  const namespaces = isMissing ? [await askText(context, "Namespace of the key, such as @team", "--namespace @team")] : namespace;
  const bad = namespaces?.find((one) => !isNamespace(one));
  if (bad !== undefined) throw usageError(`${JSON.stringify(bad)} is not a namespace`, "use a namespace such as @team");
  return namespaces;
}

/**
 * Returns a default name for a key, with purpose, creator and date, such as `editor ann@laptop 2026-01-31`. With such a name, an operator
 * can identify unused keys later.
 */
function madeUpName(purpose: string): string {
  const from = `${userInfo().username}@${hostname()}`.replace(/[^\x21-\x7e]/g, "").slice(0, 60);
  return `${purpose} ${from} ${new Date().toISOString().slice(0, 10)}`;
}
