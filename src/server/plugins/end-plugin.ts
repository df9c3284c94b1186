import type { RunningPlugin } from "./running-plugin.js";
import { lifeTimeLimitMs, withinTimeLimit } from "./time-limit.js";

/** Has a plugin clean up after itself; never throws. */
export async function endPlugin({ active: { hooks, complain } }: Pick<RunningPlugin, "active">): Promise<void> {
  try {
    await withinTimeLimit(hooks.onShutdown?.(), lifeTimeLimitMs, "onShutdown");
  } catch (error) {
    complain("onShutdown", error);
  }
}
