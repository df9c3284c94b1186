import type { WorkerMetrics } from "../../../shared/contract/metrics.js";
import { installerOf } from "../../../shared/installation.js";
import type { InstalledVersion } from "../../../shared/worker-versions.js";
import { RelativeTime } from "../../components/relative-time.js";
import { Badge } from "../../components/badge.js";
import type { Column } from "../../components/data-table.js";
import { megabytes, rate } from "../overview/figures.js";
import { activityOf, type App } from "./app.js";
import { milliseconds } from "./app-figures.js";
import { appUrl } from "./app-url.js";
import { FailureBadge, toneOf } from "./failure-badge.js";
import type { VersionTransaction } from "./use-version-switches.js";
import { VersionActions } from "./version-actions.js";

export interface VersionColumnsOptions {
  readonly app: App;
  readonly metrics: readonly WorkerMetrics[];
  readonly servedAt: string;
  readonly may: { readonly change: boolean; readonly restart: boolean; readonly remove: boolean };
  readonly switches: VersionTransaction;
  readonly onDelete: (version: string) => void;
}

export function versionColumns(options: VersionColumnsOptions): readonly Column<InstalledVersion>[] {
  const { app, metrics, servedAt, may } = options;
  const rowOf = ({ version }: InstalledVersion) => metrics.find((row) => row.version === version);
  const number = (id: string, title: string, read: (row: WorkerMetrics) => string): Column<InstalledVersion> => ({
    id,
    title,
    isNumeric: true,
    shownFrom: "widest",
    cell: (installed) => {
      const row = rowOf(installed);
      return row ? read(row) : <span className="quiet">–</span>;
    },
  });
  const columns: Column<InstalledVersion>[] = [
    {
      id: "version",
      title: "Version",
      cell: (installed) => (
        <>
          {installed.enabled ? (
            <a href={appUrl(servedAt, app.name, installed.version)} target="_blank" rel="noreferrer" className="app-link">
              {installed.version}
            </a>
          ) : (
            installed.version
          )}{" "}
          <VersionState
            isServing={app.serving?.version === installed.version && app.serving.source === installed.source}
            isEnabled={installed.enabled}
            failureShare={activityOf(metrics.filter(({ version }) => version === installed.version)).failureShare}
          />
        </>
      ),
    },
    { id: "deployed", title: "Deployed", shownFrom: "wide", cell: (installed) => <DeployedAt app={app} installed={installed} /> },
    number("requests", "Requests/s", ({ requests }) => rate(requests.perSecond)),
    number("errors", "Errors", ({ requests }) => requests.failed.toLocaleString("en-GB")),
    number("latency", "p99", ({ latency }) => milliseconds([latency.recent.p99Ms])),
    number("isolates", "Isolates", ({ isolates }) => String(isolates.running)),
    number("memory", "Memory", ({ memory }) => megabytes(memory.pssBytes ?? memory.rssBytes)),
  ];
  if (!may.change && !may.restart && !may.remove) return columns;
  const actions: Column<InstalledVersion> = {
    id: "actions",
    title: "Actions",
    isActions: true,
    cell: (installed) => <VersionActions {...options} installed={installed} />,
  };
  return [...columns, actions];
}

interface VersionStateProps {
  readonly isServing: boolean;
  readonly isEnabled: boolean;
  /** Share of the version's requests that failed, from 0 to 1. */
  readonly failureShare: number;
}

function VersionState({ isServing, isEnabled, failureShare }: VersionStateProps) {
  if (!isEnabled) return <Badge tone="warn">off</Badge>;
  return (
    <>
      {isServing ? <Badge tone={toneOf(failureShare)}>serving</Badge> : <Badge>on</Badge>} <FailureBadge share={failureShare} />
    </>
  );
}

/** Shows when and by whom a version was installed, and the commit that `runtimectl deploy` wrote into the manifest. */
function DeployedAt({ app, installed: { version, installation } }: { app: App; installed: InstalledVersion }) {
  const deploy = app.deploys[version];
  const at = installation?.at ?? deploy?.at;
  if (at === undefined) return <span className="quiet">–</span>;
  return (
    <span title={[deploy?.message, deploy?.by].filter(Boolean).join(" · ")}>
      <RelativeTime at={at} /> {installation && installerOf(installation)}
      {deploy?.commit !== undefined && (
        <>
          {" "}
          <code>{deploy.commit.slice(0, 7)}</code>
        </>
      )}
    </span>
  );
}
