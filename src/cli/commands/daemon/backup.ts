import path from "node:path";
import { formatSize } from "../../../shared/size.js";
import { directoryOptions, directoryVariables, type DirectoryOptions } from "../../backup/daemon-directories.js";
import { runBackupProgram } from "../../backup/run-backup-program.js";
import { defineCommand } from "../../command/command.js";
import { exitCodes } from "../../command/exit-codes.js";

export const command = defineCommand<[file: string], DirectoryOptions>({
  arguments: [{ syntax: "<file>", description: "The backup to write, such as runtimed.tgz; one that is there is replaced" }],
  options: directoryOptions,
  fields: ["file", "createdAt", "sizeBytes", "keys", "workers", "plugins", "skipped", "directories"],
  examples: [
    ["sudo runtimectl daemon backup /backup/runtimed.tgz --service system", "of the installed service, while it runs"],
    ["runtimectl daemon backup runtimed.tgz", "of the daemon that runs with this environment, in this folder"],
    ["runtimectl daemon backup b.tgz --state-dir /srv/state --worker-dirs /srv/workers --plugin-dirs /srv/plugins", "of any"],
  ],
  notes:
    "Reads the files of the daemon on its own machine; needs no key and no daemon that answers, and may run at any time.\n" +
    "In it: API keys (as hashes) and uploaded workers and plugins with their manifests. Not in it: the root key, settings, the audit log, what is built in.\n" +
    "Only its owner may read the file. It appears whole or not at all.\n" +
    "Ends with 6 when there is no key store, with 9 when links or the like were left out, with 7 when a package changed each time it was read.",
  async run(context, [given], options) {
    const file = path.resolve(context.workingDirectory, given);
    const backup = await runBackupProgram(context, { action: "backup", file, variables: directoryVariables(context, options) });
    for (const skipped of backup.skipped)
      context.output.warn(`${skipped} is not in the backup: it is a link, no file, or has a name that cannot be restored`);
    context.output.facts(backup, [
      ["file", backup.file],
      ["size", formatSize(backup.sizeBytes)],
      ["keys", String(backup.keys)],
      ["workers", `${backup.workers} (each version counts)`],
      ["plugins", String(backup.plugins)],
    ]);
    return backup.skipped.length === 0 ? exitCodes.ok : exitCodes.partlyDone;
  },
});
