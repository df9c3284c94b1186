import { CommandError } from "../command/command-error.js";
import { defineCommand } from "../command/command.js";
import { exitCodes } from "../command/exit-codes.js";
import { connectForStatus, readStatus } from "../output/status-report.js";

interface Options {
  readonly watch?: boolean;
}

export const command = defineCommand<[], Options>({
  options: [{ flags: "-w, --watch", description: "Look every 2 s, and show what changed, until interrupted" }],
  fields: [
    "url",
    "profile",
    "version",
    "ready",
    "readiness",
    "principal",
    "workers",
    "workerVersions",
    "plugins",
    "failedPlugins",
    "keys",
    "load",
  ],
  examples: [
    ["runtimectl status", "health, version, who I am, what is installed"],
    ["runtimectl status --json=ready,readiness", "for monitoring; ends with 8 when it is not ready"],
    ["runtimectl status --watch --json", "a document a line, whenever something has changed"],
  ],
  notes:
    "Works without a key, and then says less. Ends with 8 when the daemon is not ready or not there.\n" +
    "With --watch a daemon that goes away is shown as that, and looked for again; a change of the load alone is no new line of --json.",
  async run(context, _values, options) {
    const { signal } = context;
    const connection = await connectForStatus(context);
    if (!options.watch) {
      const { document, facts } = await readStatus(connection);
      context.output.facts(document, facts);
      return document.ready ? exitCodes.ok : exitCodes.unavailable;
    }
    const { watchStatus } = await import("../output/status-report.js");
    await watchStatus(context, connection);
    return signal.reason instanceof CommandError ? signal.reason.exitCode : exitCodes.ok;
  },
});
