import type { Context } from "../command/command.js";
import { openBrowser } from "../open-browser.js";

export interface KeyActions {
  reload(): void;
  quit(): void;
  /** What `o` opens; undefined while nothing is served. */
  url(): string | undefined;
}

const interrupt = "\u0003";
const clearScreen = "\u001b[2J\u001b[3J\u001b[H";

/** Acts on single keys until the command ends. Only for a person at a terminal. */
export function listenForKeys({ io, terminal, variables, onExit }: Context, actions: KeyActions): void {
  const keys: Readonly<Record<string, () => void>> = {
    r: () => actions.reload(),
    o: () => {
      const url = actions.url();
      if (url !== undefined) openBrowser(url, variables);
    },
    c: () => terminal.writeStderr(clearScreen),
    q: () => actions.quit(),
    // The terminal makes no signal of it while it hands over every key.
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
