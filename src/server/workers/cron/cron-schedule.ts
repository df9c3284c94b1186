import { Cron } from "croner";
import type { WorkerManifest } from "../../../shared/worker-manifest.js";

/** Five fields, six with seconds in front, or a word such as `@daily`; croner alone would also take dates. */
const schedulePattern = /^(?:@[a-z]+|\S+(?:\s+\S+){4,5})$/;

/** Why a schedule cannot be used; undefined when it can. */
function scheduleFault(schedule: string): string | undefined {
  if (!schedulePattern.test(schedule.trim())) return "write five fields, such as */5 * * * *, or six with seconds in front";
  try {
    return new Cron(schedule, { timezone: "UTC", paused: true }).nextRun() ? undefined : "it is never due";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Which entry of `cron` cannot be used and why; undefined when all can. */
export function cronRefusal({ cron }: Pick<WorkerManifest, "cron">): string | undefined {
  for (const [index, { schedule, endpoint }] of cron.entries()) {
    const fault = scheduleFault(schedule);
    if (fault !== undefined) return `Its manifest's cron.${index}.schedule ${JSON.stringify(schedule)} cannot be used: ${fault}.`;
    if (!endpoint.startsWith("/")) return `Its manifest's cron.${index}.endpoint ${JSON.stringify(endpoint)} does not begin with a slash.`;
  }
  return undefined;
}
