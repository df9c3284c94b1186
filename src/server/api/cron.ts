import { ApiError } from "../../shared/api-error.js";
import type { CronJob, CronRun } from "../../shared/contract/cron.js";
import { namespacesCover } from "../../shared/namespace.js";
import { fromPathSegments } from "../../shared/package-name.js";
import type { ResourceHandlers } from "../http/handler.js";

/** The functions of the cron jobs that these handlers use. */
interface CronJobsPort {
  list(isWanted: (name: string) => boolean, options: { withRuns: boolean }): Promise<CronJob[]>;
  run(name: string, index: number, by: string): Promise<CronRun>;
}

export function createCronHandlers({
  cronJobs,
  isInstalled,
}: {
  cronJobs: CronJobsPort;
  isInstalled: (name: string) => boolean;
}): ResourceHandlers<"cron"> {
  return {
    list: async ({ query: { worker }, principal: { namespaces } }) => {
      const isWanted = (name: string) => (worker === undefined || worker === name) && namespacesCover(namespaces, name);
      return cronJobs.list(isWanted, { withRuns: worker !== undefined });
    },
    run: async ({ params, principal }) => {
      const name = fromPathSegments(params);
      if (!isInstalled(name)) throw new ApiError("WORKER_NOT_FOUND", `No worker ${name} is installed.`);
      return { success: true, data: await cronJobs.run(name, params.index, principal.name) };
    },
  };
}
