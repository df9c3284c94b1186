import { CommandError } from "../command/command-error.js";
import { defineCommand } from "../command/command.js";
import { exitCodes } from "../command/exit-codes.js";
import { connectForStatus, readStatus } from "../output/status-report.js";

interface Options {
  readonly watch?: boolean;
}

export const command = defineCommand<[], Options>({
  options: [{ flags: "-w, --watch", description: "Poll every 2 s and show changes until Ctrl-C" }],
  fields: [
    "url",
    "profile",
    "version",
    "ready",
    "readiness",
    "problems",
    "principal",
    "workers",
    "workerVersions",
    "plugins",
    "failedPlugins",
    "keys",
    "load",
  ],
  examples: [
    ["runtimectl status", "show health, version, principal and installed packages"],
    ["runtimectl status --json=ready,readiness", "for monitoring; exits with 8 if the daemon is not ready"],
    ["runtimectl status --watch --json", "print one document per line, for each change"],
  ],
  notes:
    "Without a key, the command shows less. With keys:read, `degraded` is a problem of a daemon that still serves, such as an unreachable primary. Exits with 8 if the daemon is unreachable or not ready.\n" +
    "With --watch, an unreachable daemon is shown as such and polled again. With --json, a change of the load alone prints no line.",
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
