import path from "node:path";
import type { RestoredBackup } from "../../../shared/backup-program.js";
import { directoryOptions, directoryVariables, type DirectoryOptions } from "../../backup/daemon-directories.js";
import { runBackupProgram } from "../../backup/run-backup-program.js";
import { defineCommand } from "../../command/command.js";
import { pluralize } from "../../output/format.js";
import { confirmOnMachine } from "../../output/prompts.js";

interface Options extends DirectoryOptions {
  readonly dryRun?: boolean;
  readonly discardOld?: boolean;
}

export const command = defineCommand<[file: string], Options>({
  arguments: [{ syntax: "<file>", description: "A backup that daemon backup wrote" }],
  options: [
    ...directoryOptions,
    { flags: "-n, --dry-run", description: "Check the backup and show what would change; change nothing" },
    { flags: "--discard-old", description: "Delete what was there, instead of keeping it aside" },
  ],
  fields: ["file", "dryRun", "createdAt", "keys", "keysBefore", "packages", "kept", "finishedEarlier", "directories"],
  examples: [
    ["sudo runtimectl daemon restore /backup/runtimed.tgz --service system", "asks first; the service has to be stopped"],
    ["runtimectl daemon restore runtimed.tgz --dry-run", "check all of a backup, and see what would change"],
    ["runtimectl daemon restore runtimed.tgz --yes", "unasked"],
  ],
  notes:
    "All keys and all uploaded packages become those of the backup: what is newer goes. Everything is checked before anything is changed.\n" +
    "What was there is kept in before-restore-TIME in the state directory and .before-restore-TIME in the others, until you delete it.\n" +
    "A restore that is interrupted has changed nothing, or is finished by the next start of the daemon or the next restore.\n" +
    "Ends with 7 while a daemon runs (not with --dry-run), with 1 when the backup is damaged, with 3 when it is not confirmed.",
  async run(context, [given], { dryRun = false, discardOld = false, ...options }) {
    const file = path.resolve(context.workingDirectory, given);
    const job = { action: "restore", file, variables: directoryVariables(context, options), discardOld } as const;
    if (!dryRun && !context.flags.yes) {
      const plan = await runBackupProgram(context, { ...job, isDryRun: true });
      context.output.note(`this will change:\n${describe(plan)}`);
      await confirmOnMachine(context, {
        consequence: `Replace all keys and uploaded packages by those of ${plan.createdAt}`,
        name: "restore",
      });
    }
    const restored = await runBackupProgram(context, { ...job, isDryRun: dryRun });
    context.output.result({ dryRun, ...restored }, `${describe(restored)}${restored.kept.map((folder) => `\nkept ${folder}`).join("")}`);
  },
});

function describe({ createdAt, keys, keysBefore, packages }: RestoredBackup): string {
  const before = keysBefore === null ? "no key store that can be read" : pluralize(keysBefore, "key");
  const lines = packages.map(({ change, kind, path: place }) => `${change} ${kind} ${place}`);
  return [`backup of ${createdAt}`, `${pluralize(keys, "key")} in place of ${before}`, ...lines].join("\n");
}
