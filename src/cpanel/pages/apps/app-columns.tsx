import type { WorkerMetrics } from "../../../shared/contract/metrics.js";
import type { Sparkline as WorkerSparkline } from "../../../shared/contract/metrics-history.js";
import { requestHealth } from "../../../shared/failure-share.js";
import { workerStates, type WorkerHealth } from "../../../shared/contract/worker-health.js";
import { ActionMenu } from "../../components/action-menu.js";
import type { Column } from "../../components/data-table.js";
import { MeterBar } from "../../components/meter-bar.js";
import { RelativeTime } from "../../components/relative-time.js";
import { Sparkline } from "../../components/sparkline.js";
import { StateDot } from "../../components/state-dot.js";
import { PanelLink } from "../../router/panel-link.js";
import { figureTones, lineTones, megabytes, milliseconds, percent, rate } from "../overview/figures.js";
import { activityOf, deployedOf, type App, type AppActivity } from "./app.js";
import { appMenu, type AppMenuOptions } from "./app-menu.js";

export interface AppColumnsOptions extends AppMenuOptions {
  readonly health: ReadonlyMap<string, WorkerHealth>;
  readonly metrics: ReadonlyMap<string, readonly WorkerMetrics[]>;
  readonly sparklines: ReadonlyMap<string, WorkerSparkline>;
}

/** The columns of the list of apps. */
export function appColumns(options: AppColumnsOptions): readonly Column<App>[] {
  const { health, metrics, sparklines } = options;
  const known = new Map<string, AppActivity>();
  const activity = ({ name }: App): AppActivity => {
    const found = known.get(name) ?? activityOf(metrics.get(name) ?? []);
    known.set(name, found);
    return found;
  };
  const number = (id: string, title: string, sortBy: (of: AppActivity) => number, cell: Column<App>["cell"]): Column<App> => ({
    id,
    title,
    isNumeric: true,
    shownFrom: "wide",
    sortBy: (app) => sortBy(activity(app)),
    cell,
  });
  return [
    {
      id: "state",
      title: "State",
      // Sorts by severity. Apps with the same severity stay sorted by name, because the list already has this order.
      sortBy: (app) => workerStates.indexOf(stateOf(app, options) ?? "idle"),
      cell: (app) => <AppState app={app} options={options} />,
    },
    {
      id: "name",
      title: "Name",
      isRowHeader: true,
      sortBy: ({ name }) => name,
      cell: ({ name, namespace, isBuiltIn }) => (
        <PanelLink to={`apps/${name}`} className="app-name" title={isBuiltIn ? `${name}, built-in` : name}>
          {namespace !== "" && <span className="quiet">{namespace}/</span>}
          <span className="app-name-end">{namespace === "" ? name : name.slice(namespace.length + 1)}</span>
        </PanelLink>
      ),
    },
    { id: "version", title: "Version", shownFrom: "wide", cell: (app) => <Version app={app} /> },
    {
      id: "sparkline",
      title: "Last hour",
      shownFrom: "widest",
      cell: ({ name }) => <LastHour sparkline={sparklines.get(name)} />,
    },
    number(
      "requests",
      "Req/s",
      ({ requestsPerSecond }) => requestsPerSecond,
      (app) => rate(activity(app).requestsPerSecond),
    ),
    {
      id: "failing",
      title: "Failing",
      isNumeric: true,
      sortBy: (app) => activity(app).failureShare,
      cell: (app) => <FailedShare share={activity(app).failureShare} />,
    },
    number(
      "latency",
      "p99",
      ({ p99Ms }) => p99Ms ?? -1,
      (app) => milliseconds([activity(app).p99Ms]),
    ),
    number(
      "memory",
      "Memory",
      ({ memoryBytes }) => memoryBytes,
      (app) => <Memory {...activity(app)} />,
    ),
    {
      id: "actions",
      title: "Actions",
      isActions: true,
      cell: (app) => <ActionMenu label={`Actions of ${app.name}`} entries={appMenu(app, health.get(app.name)?.rollbackTo, options)} />,
    },
  ];
}

/** Returns the state of an app. Undefined while the states are loading. */
function stateOf({ name, serving }: App, { health, metrics }: AppColumnsOptions): WorkerHealth["state"] | undefined {
  if (serving === undefined) return "disabled";
  const state = health.get(name)?.state;
  // Computes `ok` and `idle` from the metrics. The daemon publishes no event when an app becomes busy or idle, so the health data can be
  // outdated.
  if (state !== "ok" && state !== "idle") return state;
  return activityOf(metrics.get(name) ?? []).requestsPerSecond > 0 ? "ok" : "idle";
}

function AppState({ app, options }: { app: App; options: AppColumnsOptions }) {
  const state = stateOf(app, options);
  if (state === undefined) return <span className="quiet">…</span>;
  const reason = options.health.get(app.name)?.reason;
  return (
    <span {...(reason === undefined ? {} : { title: reason })}>
      <StateDot state={state} />
    </span>
  );
}

function Version({ app }: { app: App }) {
  if (!app.serving) return <span className="quiet">–</span>;
  const deployed = deployedOf(app, app.serving);
  return (
    <>
      <span title={app.serving.version}>{app.serving.version}</span>
      {deployed && (
        <span className="quiet">
          {" "}
          <RelativeTime at={deployed.at} />
          {deployed.by !== undefined && ` by ${deployed.by}`}
        </span>
      )}
    </>
  );
}

function LastHour({ sparkline }: { sparkline: WorkerSparkline | undefined }) {
  if (!sparkline) return <span className="quiet">–</span>;
  return (
    <Sparkline
      label="Requests per minute in the last hour"
      values={sparkline.requests}
      format={String}
      tone={lineTones[requestHealth(failedShareOf(sparkline))]}
    />
  );
}

/**
 * Returns the share of failed requests in the last hour, from 0 to 1. The share decides the color of the sparkline, so a single failure
 * among many requests does not change the color.
 */
function failedShareOf({ requests, failed }: WorkerSparkline): number {
  return sum(failed) / Math.max(1, sum(requests));
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

function FailedShare({ share }: { share: number }) {
  return <span className={`figure-${figureTones[requestHealth(share)]}`}>{percent(share)}</span>;
}

function Memory({ memoryBytes, memoryLimitBytes }: AppActivity) {
  if (memoryBytes === 0) return <span className="quiet">–</span>;
  return (
    <span className="app-memory" title={memoryLimitBytes === undefined ? undefined : `Limit ${megabytes(memoryLimitBytes)}`}>
      {megabytes(memoryBytes)}
      {memoryLimitBytes !== undefined && <MeterBar value={memoryBytes} limit={memoryLimitBytes} />}
    </span>
  );
}
