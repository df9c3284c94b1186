import type { LaunchOrder } from "./launch-messages.js";
import type { LaunchedProcess } from "./launched-process.js";
import { Launcher } from "./launcher.js";

let current: Promise<Launcher> | undefined;

/**
 * Starts a process with an empty environment, by the one launcher that this process has: to start it here would hold up all that is
 * served (`main.ts`). Rejects when it cannot be started, or there is no descriptor left for its sockets.
 */
export async function launch(order: Omit<LaunchOrder, "id" | "password">): Promise<LaunchedProcess> {
  const mine = (current ??= Launcher.start());
  try {
    const launcher = await mine;
    void launcher.ended.then(() => forget(mine));
    return await launcher.launch(order);
  } catch (error) {
    // Of one that never came up.
    await mine.catch(() => forget(mine));
    throw error;
  }
}

function forget(launcher: Promise<Launcher>): void {
  if (current === launcher) current = undefined;
}
