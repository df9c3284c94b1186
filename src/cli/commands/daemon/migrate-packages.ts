import type { MigratedPackages, PackageStoreKind } from "../../../shared/backup-program.js";
import { directoryOptions, directoryVariables, type DirectoryOptions } from "../../backup/daemon-directories.js";
import { runConfirmed } from "../../backup/run-backup-program.js";
import { defineCommand } from "../../command/command.js";
import { exitCodes } from "../../command/exit-codes.js";
import { pluralize } from "../../output/format.js";

interface Options extends DirectoryOptions {
  readonly to?: PackageStoreKind;
  readonly store?: string;
  readonly credentialFile?: string;
  readonly primary?: string;
  readonly tokenFile?: string;
  readonly dryRun?: boolean;
}

export const command = defineCommand<[], Options>({
  options: [
    ...directoryOptions,
    {
      flags: "--to <place>",
      description: "oci = an OCI registry; directory = the directories of this machine (default: oci)",
      choices: ["oci", "directory"],
    },
    { flags: "--store <address>", description: "Repository, such as oci:https://HOST/REPOSITORY (default: RUNTIME_PACKAGE_STORE)" },
    {
      flags: "--credential-file <file>",
      description: "File with the credential of the registry (default: RUNTIME_PACKAGE_STORE_CREDENTIAL_FILE, _CREDENTIAL)",
    },
    {
      flags: "--primary <url>",
      description: "URL of the libSQL server (default: RUNTIME_AUTH_DB_SYNC_URL with RUNTIME_AUTH_DB_MODE=sync)",
    },
    { flags: "--token-file <file>", description: "File with the token of the server (default: RUNTIME_AUTH_DB_SYNC_TOKEN_FILE, _TOKEN)" },
    { flags: "-n, --dry-run", description: "Check the folders and the registry and show what would move; change nothing" },
  ],
  fields: ["dryRun", "store", "workers", "plugins", "present", "local"],
  examples: [
    [
      "sudo runtimectl daemon migrate-packages --service system --store oci:https://registry.example.org/runtimed --primary http://10.0.0.5:8080",
      "move the packages of the installed service; stop all daemons first",
    ],
    ["sudo runtimectl daemon migrate-packages --service system --to directory", "keep the packages in the directories of one daemon"],
  ],
  notes:
    "Daemons of earlier versions could share package directories. Run this command once, with all daemons stopped, before the upgraded daemons start.\n" +
    "With --to oci, it moves each version and plugin to the registry and adds it to the list beside the keys. The folders stay, as the downloaded files of this machine. It is safe to run the command again after an interruption.\n" +
    "With --to directory, it moves nothing: one daemon keeps the directories, and each other daemon needs directories of its own.\n" +
    "Exits with 6 if there is no key store, with 7 if a daemon runs or if a package could not be moved, and with 8 if the registry or the server does not respond.",
  async run(context, _none, { to = "oci", store, credentialFile, primary, tokenFile, dryRun = false, ...directories }) {
    const variables = {
      ...directoryVariables(context, directories),
      ...(store !== undefined && { RUNTIME_PACKAGE_STORE: store }),
      ...(credentialFile !== undefined && { RUNTIME_PACKAGE_STORE_CREDENTIAL_FILE: credentialFile }),
      ...(primary !== undefined && { RUNTIME_AUTH_DB_MODE: "sync", RUNTIME_AUTH_DB_SYNC_URL: primary }),
      ...(tokenFile !== undefined && { RUNTIME_AUTH_DB_SYNC_TOKEN_FILE: tokenFile }),
    };
    const job = { action: "migrate-packages", file: "", packageStore: to, variables } as const;
    const migrated = await runConfirmed(context, job, { isDryRun: dryRun, consequenceOf: (plan) => describe("Move", plan) });
    const local = migrated.local.map(({ folder, reason }) => `\nnot moved: ${folder}: ${reason}`).join("");
    context.output.result({ dryRun, ...migrated }, `${describe(dryRun ? "would move" : "moved", migrated)}${local}`);
    return migrated.local.length === 0 ? exitCodes.ok : exitCodes.conflict;
  },
});

function describe(verb: string, { workers, plugins, present, store }: MigratedPackages): string {
  if (store === "directory") return "the packages stay in the directories of this machine";
  const earlier = present === 0 ? "" : `; ${pluralize(present, "package")} of this machine came from there`;
  return `${verb} ${pluralize(workers, "worker version")} and ${pluralize(plugins, "plugin")} to ${store}${earlier}`;
}
