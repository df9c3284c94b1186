import { megabytes, rate } from "../overview/figures.js";
import { activityOf } from "./app.js";
import { FailureBadge } from "./failure-badge.js";
import { useAppMetrics } from "./use-app-metrics.js";

/** Current metrics of an app. Requests and errors are counted since the daemon started. */
export function AppFigures({ name }: { name: string }) {
  const rows = useAppMetrics(name).get(name) ?? [];
  const { requestsPerSecond, requests, failed, failureShare, isolates, memoryBytes } = activityOf(rows);
  const latencies = rows.map(({ latency }) => latency.recent);
  const figures = [
    ["Requests per second", rate(requestsPerSecond)],
    ["Requests", requests.toLocaleString("en-GB")],
    ["Errors", <Errors key="errors" failed={failed} share={failureShare} />],
    ["Latency p50", milliseconds(latencies.map(({ p50Ms }) => p50Ms))],
    ["Latency p99", milliseconds(latencies.map(({ p99Ms }) => p99Ms))],
    ["Isolates", isolates.toLocaleString("en-GB")],
    ["Memory", megabytes(memoryBytes)],
  ] as const;
  return (
    <dl className="app-figures">
      {figures.map(([title, value]) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Errors({ failed, share }: { failed: number; share: number }) {
  return (
    <>
      {failed.toLocaleString("en-GB")} <FailureBadge share={share} />
    </>
  );
}

/** Formats the highest of several latencies, such as `1.5 ms`. Ignores null values. */
export function milliseconds(values: readonly (number | null)[]): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return "–";
  const slowest = Math.max(...known);
  return `${slowest < 10 ? slowest.toFixed(1) : Math.round(slowest).toLocaleString("en-GB")} ms`;
}
