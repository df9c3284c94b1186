import type { AppInfo } from "../../plugin/index.js";
import type { PluginSet } from "./plugin-set.js";
import { hookTimeLimitMs, withinTimeLimit } from "./time-limit.js";
import { dropResponse, isResponse, isThenable } from "./web-objects.js";

/** Shows an answer to every `onResponse` hook, each of which may give another one; a hook that fails changes nothing. */
export async function showToHooks(
  set: PluginSet,
  answer: Response,
  about: { app: AppInfo | undefined; request: Request },
): Promise<Response> {
  let current = answer;
  for (const { hooks, complain } of set.withResponseHook) {
    try {
      const given: unknown = hooks.onResponse?.(current, about.app, about.request);
      const next = isThenable(given) ? await withinTimeLimit<unknown>(given, hookTimeLimitMs, "onResponse", dropResponse) : given;
      if (next === undefined || next === current) continue;
      if (!isResponse(next)) throw new TypeError("it gave something that is neither a Response nor nothing");
      current = next;
    } catch (error) {
      complain("onResponse", error);
    }
  }
  return current;
}
