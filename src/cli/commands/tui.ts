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
    ["runtimectl tui", "the dashboard, on the daemon of the current profile"],
    ["runtimectl tui --readonly --profile prod", "look, and change nothing"],
    ["runtimectl tui --screen workers --refresh 5s", "start with the workers, ask every five seconds"],
  ],
  options: [
    { flags: "--screen <name>", description: "The screen to start with; default overview" },
    { flags: "--readonly", description: "Offer nothing that changes anything" },
    { flags: "--refresh <duration>", description: "How often each figure is asked for; default 2s, at least 1s" },
    { flags: "--accessible", description: "Plain lines for screen readers, like ui.accessible in config.yaml" },
  ],
  notes: "Press ? for the keys. Whatever it does, a command does: x shows the line, : runs one.",
  async run(context, _values, options) {
    const { terminal, flags } = context;
    if (flags.json) throw usageError("a dashboard is no document", "use: runtimectl status --json");
    if (!terminal.stdinIsTty || !terminal.stdoutIsTty)
      throw usageError("the dashboard needs a terminal on both sides", "use: runtimectl status --watch --json");
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
