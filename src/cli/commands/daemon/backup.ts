import path from "node:path";
import { formatSize } from "../../../shared/size.js";
import { directoryOptions, directoryVariables, type DirectoryOptions } from "../../backup/daemon-directories.js";
import { runBackupProgram } from "../../backup/run-backup-program.js";
import { defineCommand } from "../../command/command.js";
import { pluralize } from "../../output/format.js";
import { exitCodes } from "../../command/exit-codes.js";

export const command = defineCommand<[file: string], DirectoryOptions>({
  arguments: [{ syntax: "<file>", description: "The backup file to write, such as runtimed.tgz; an existing file is replaced" }],
  options: directoryOptions,
  fields: ["file", "createdAt", "sizeBytes", "keys", "workers", "plugins", "data", "skipped", "directories"],
  examples: [
    ["sudo runtimectl daemon backup /backup/runtimed.tgz --service system", "back up the installed service while it runs"],
    ["runtimectl daemon backup runtimed.tgz", "back up the daemon with this environment and working directory"],
    [
      "runtimectl daemon backup b.tgz --state-dir /srv/state --worker-dirs /srv/workers --plugin-dirs /srv/plugins",
      "back up these directories",
    ],
  ],
  notes:
    "Reads the daemon's files on this machine, with or without a running daemon. Requires no key.\n" +
    "Included: API keys (as hashes), uploaded workers and plugins, data folders of workers. Not included: the root key, settings, the audit log, built-in packages.\n" +
    "A running daemon first copies each data folder while no isolate of its worker runs, so that the files of a database match each other.\n" +
    "Only the owner of the file can read it. The file is complete, or is not created.\n" +
    "Exits with 6 if there is no key store, with 9 if links or special files were skipped, and with 7 if a package changed during each attempt.",
  async run(context, [given], options) {
    const file = path.resolve(context.workingDirectory, given);
    const backup = await runBackupProgram(context, { action: "backup", file, variables: directoryVariables(context, options) });
    for (const skipped of backup.skipped)
      context.output.warn(`${skipped} was skipped: links, special files and names that cannot be restored are not backed up`);
    context.output.facts(backup, [
      ["file", backup.file],
      ["size", formatSize(backup.sizeBytes)],
      ["keys", String(backup.keys)],
      ["workers", `${backup.workers} (counting each version)`],
      ["plugins", String(backup.plugins)],
      ["data", pluralize(backup.data, "data folder")],
    ]);
    return backup.skipped.length === 0 ? exitCodes.ok : exitCodes.partlyDone;
  },
});
