import * as cron from "../../../../shared/contract/cron.js";
import type { CronJob } from "../../../../shared/contract/cron.js";
import { EmptyState } from "../../../components/empty-state.js";
import { ResourceList } from "../../../components/resource-list.js";
import { useApi } from "../../../live/use-api.js";
import { useResource } from "../../../live/use-resource.js";
import { useMay } from "../../../session/use-principal.js";
import type { AppTabProps } from "../app-tabs.js";
import { Schedule } from "./schedule.js";
import "./schedules.css";

const operations = { cron: { list: cron.list, run: cron.run } };

/** Tab with the cron jobs of the active version: next run, last 50 runs, and a button that runs a job now. */
export function Schedules({ app }: AppTabProps) {
  const api = useApi(operations);
  const resource = useResource<readonly CronJob[]>(`cron ${app.name}`, () => api.cron.list({ query: { worker: app.name } }), {
    isWanted: useMay("workers:read"),
  });
  const jobs = resource.data ?? [];
  return (
    <ResourceList
      noun="cron job"
      permission="workers:read"
      resource={resource}
      total={jobs.length}
      rows={jobs}
      onClearFilters={() => undefined}
      empty={
        <EmptyState title={app.serving ? `${app.serving.version} has no cron job` : "No version is active"}>
          {app.serving ? (
            <>
              The manifest declares cron jobs in <code>cron</code>, with <code>schedule</code> and <code>endpoint</code>.
            </>
          ) : (
            "Only the active version runs cron jobs. Activate a version first."
          )}
        </EmptyState>
      }
    >
      {(shown) => (
        <div className="schedules">
          {shown.map((job) => (
            <Schedule key={job.index} job={job} run={(params) => api.cron.run({ params })} onRun={resource.refresh} />
          ))}
        </div>
      )}
    </ResourceList>
  );
}
