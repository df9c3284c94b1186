import { parseDurationMs } from "../../shared/duration.js";
import { usageError } from "../command/command-error.js";
import { defineCommand } from "../command/command.js";

interface Options {
  readonly screen?: string;
  readonly readonly?: boolean;
  readonly refresh?: string;
  readonly accessible?: boolean;
}

const leastRefreshMs = 1000;

export const command = defineCommand<[], Options>({
  examples: [
    ["runtimectl tui", "open the dashboard for the current profile"],
    ["runtimectl tui --readonly --profile prod", "open the dashboard without actions that change data"],
    ["runtimectl tui --screen workers --refresh 5s", "start with the workers screen and poll every 5 s"],
  ],
  options: [
    { flags: "--screen <name>", description: "The first screen (default: overview)" },
    { flags: "--readonly", description: "Disable all actions that change data" },
    { flags: "--refresh <duration>", description: "Polling interval, at least 1s (default: 2s)" },
    { flags: "--accessible", description: "Print plain lines for screen readers, like ui.accessible in config.yaml" },
  ],
  notes: "Press ? to list the keys. Every action is also a command: press x to show its command line, and : to run a command.",
  async run(context, _values, options) {
    const { terminal, flags } = context;
    if (flags.json) throw usageError("the dashboard does not support --json", "use: runtimectl status --json");
    if (!terminal.stdinIsTty || !terminal.stdoutIsTty)
      throw usageError("the dashboard needs a terminal on stdin and stdout", "without a terminal, use: runtimectl status --watch --json");
    const refreshMs = options.refresh === undefined ? undefined : parseDurationMs(options.refresh);
    if (options.refresh !== undefined && (refreshMs === undefined || refreshMs < leastRefreshMs))
      throw usageError(`--refresh: ${options.refresh} is not a duration of at least 1s`, "use --refresh 2s");
    const { openDashboard } = await import("../dashboard/open-dashboard.js");
    await openDashboard(context, {
      screen: options.screen,
      isReadOnly: options.readonly ?? false,
      refreshMs,
      isAccessible: options.accessible,
    });
  },
});
