import type { LaunchOrder } from "./launch-messages.js";
import type { LaunchedProcess } from "./launched-process.js";
import { Launcher } from "./launcher.js";

let current: Promise<Launcher> | undefined;

/**
 * Starts a process with an empty environment, by the one launcher that this process has: to start it here would hold up all that is
 * served (`main.ts`). Rejects when it cannot be started, or there is no descriptor left for its sockets.
 */
export async function launch(order: Omit<LaunchOrder, "id">): Promise<LaunchedProcess> {
  if (!current) {
    current = Launcher.start();
    void forgetAtItsEnd(current);
  }
  return (await current).launch(order);
}

async function forgetAtItsEnd(launcher: Promise<Launcher>): Promise<void> {
  try {
    await (
      await launcher
    ).ended;
  } catch {
    // It did not come up, as whoever waits for it hears.
  } finally {
    current = undefined;
  }
}
