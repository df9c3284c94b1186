import type { SpawnOrder } from "./messages.js";
import type { SpawnedProcess } from "./spawned-process.js";
import { Spawner } from "./spawner.js";

let current: Promise<Spawner> | undefined;

/**
 * Starts a process with an empty environment, by the one spawner that this process has: to start it here would hold up all that is
 * served (`main.ts`). Rejects when it cannot be started, or there is no descriptor left for its sockets.
 */
export async function spawnProcess(order: Omit<SpawnOrder, "id">): Promise<SpawnedProcess> {
  if (!current) {
    current = Spawner.start();
    void forgetAtItsEnd(current);
  }
  return (await current).spawnProcess(order);
}

async function forgetAtItsEnd(spawner: Promise<Spawner>): Promise<void> {
  try {
    await (
      await spawner
    ).ended;
  } catch {
    // It did not come up, as whoever waits for it hears.
  } finally {
    current = undefined;
  }
}
