import type { Context } from "../command/command.js";
import { openBrowser } from "../open-browser.js";
import type { Answered } from "./dev-daemon.js";

const interrupt = "\u0003";
const clearScreen = "\u001b[2J\u001b[3J\u001b[H";
const warnLevel = 40;

interface KeyActions {
  reload(): void;
  quit(): void;
  /** Returns the URL that the browser opens when the user presses `o`. Undefined until the daemon serves the worker. */
  url(): string | undefined;
}

/** Runs an action each time the user presses its key, until the command ends. Requires a terminal. */
export function listenForKeys({ io, terminal, variables, onExit }: Context, actions: KeyActions): void {
  const keys: Readonly<Record<string, () => void>> = {
    r: () => actions.reload(),
    o: () => {
      const url = actions.url();
      if (url !== undefined) openBrowser(url, variables);
    },
    c: () => terminal.writeStderr(clearScreen),
    q: () => actions.quit(),
    // In raw mode, the terminal sends Ctrl-C as a character instead of a signal.
    [interrupt]: () => process.kill(process.pid, "SIGINT"),
  };
  const { stdin } = io;
  stdin.setRawMode?.(true);
  stdin.setEncoding("utf8").on("data", (text: string) => {
    for (const key of text) keys[key]?.();
  });
  onExit(() => {
    stdin.setRawMode?.(false);
    stdin.destroy();
  });
}

/** Returns the text to print for a log line of the daemon. Undefined if the line is neither worker output nor a warning. */
export function describeLogLine(line: string): string | undefined {
  const entry = parse(line);
  if (entry === undefined) return line === "" ? undefined : line;
  const { worker, level, msg, source, err, path, requestId } = entry;
  if (typeof msg !== "string") return undefined;
  if (worker !== undefined && source === "app") return msg;
  // Skips log lines about failed API requests. `runtimectl dev` sent these requests and reports their failures itself.
  const isCall = path !== undefined || (requestId !== undefined && worker === undefined);
  if (typeof level !== "number" || level < warnLevel || isCall) return undefined;
  const cause = (err as { message?: unknown } | undefined)?.message;
  return typeof cause === "string" ? `${msg}\n${cause}` : msg;
}

export function describeResponse({ method, target, status, durationMs }: Answered): string {
  return `${method} ${target} ${status} ${durationMs < 10 ? durationMs.toFixed(1) : Math.round(durationMs)} ms`;
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
