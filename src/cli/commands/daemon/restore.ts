import path from "node:path";
import type { RestoredBackup } from "../../../shared/backup-program.js";
import { directoryOptions, directoryVariables, type DirectoryOptions } from "../../backup/daemon-directories.js";
import { runConfirmed } from "../../backup/run-backup-program.js";
import { defineCommand } from "../../command/command.js";
import { pluralize } from "../../output/format.js";

interface Options extends DirectoryOptions {
  readonly dryRun?: boolean;
  readonly dataOnly?: boolean;
  readonly discardOld?: boolean;
}

export const command = defineCommand<[file: string], Options>({
  arguments: [{ syntax: "<file>", description: "A backup file written by daemon backup" }],
  options: [
    ...directoryOptions,
    { flags: "-n, --dry-run", description: "Check the backup and show what would change; change nothing" },
    { flags: "--data-only", description: "Restore only the data folders of workers; keys, workers and plugins stay" },
    { flags: "--discard-old", description: "Delete the previous keys, packages and data instead of keeping them" },
  ],
  fields: ["file", "dryRun", "dataOnly", "createdAt", "keys", "keysBefore", "packages", "kept", "finishedEarlier", "directories"],
  examples: [
    ["sudo runtimectl daemon restore /backup/runtimed.tgz --service system", "restore after a confirmation; stop the service first"],
    ["runtimectl daemon restore runtimed.tgz --dry-run", "check a backup and show what would change"],
    ["runtimectl daemon restore runtimed.tgz --yes", "restore without confirmation"],
    [
      "sudo runtimectl daemon restore /backup/runtimed.tgz --service system --data-only",
      "restore the data of workers on one of several daemons",
    ],
  ],
  notes:
    "Replaces all keys, uploaded packages and data folders, including newer ones, with those of the backup. The whole backup is checked before any change.\n" +
    "The previous data is kept in before-restore-TIME (state directory) and .before-restore-TIME (package and data directories) until you delete it.\n" +
    "An interrupted restore changed nothing, or the next start of the daemon or the next restore completes it.\n" +
    "A daemon with RUNTIME_AUTH_DB_MODE=sync has its keys in a primary. A restore of keys and packages then fails with PRIMARY_HAS_KEYS, and --data-only is possible.\n" +
    "Exits with 7 if a daemon runs (not with --dry-run) or has its keys in a primary (not with --data-only), with 1 if the backup is damaged, and with 3 if the restore is not confirmed.",
  async run(context, [given], { dryRun = false, dataOnly = false, discardOld = false, ...options }) {
    const file = path.resolve(context.workingDirectory, given);
    const job = { action: "restore", file, variables: directoryVariables(context, options), isDataOnly: dataOnly, discardOld } as const;
    const consequenceOf = (plan: RestoredBackup) => {
      context.output.note(`this will change:\n${describe(plan)}`);
      return `Replace all ${dataOnly ? "data folders" : "keys and uploaded packages"} with the backup of ${plan.createdAt}`;
    };
    const restored = await runConfirmed(context, job, { isDryRun: dryRun, consequenceOf });
    context.output.result({ dryRun, ...restored }, `${describe(restored)}${restored.kept.map((folder) => `\nkept ${folder}`).join("")}`);
  },
});

function describe({ createdAt, dataOnly, keys, keysBefore, packages }: RestoredBackup): string {
  const before = keysBefore === null ? "no readable key store" : pluralize(keysBefore, "key");
  const replaced = dataOnly ? "keys, workers and plugins stay unchanged" : `${pluralize(keys, "key")} replace ${before}`;
  const lines = packages.map(({ change, kind, path: place }) => `${change} ${kind} ${place}`);
  return [`backup of ${createdAt}`, replaced, ...lines].join("\n");
}
