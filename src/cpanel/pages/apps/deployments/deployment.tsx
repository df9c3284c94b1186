import type { WorkerMetrics } from "../../../../shared/contract/metrics.js";
import { percentOf } from "../../../../shared/failure-share.js";
import { installerOf } from "../../../../shared/installation.js";
import type { InstalledVersion } from "../../../../shared/worker-versions.js";
import { Button } from "../../../components/button.js";
import { DateAndTime } from "../../../components/date-and-time.js";
import { RelativeTime } from "../../../components/relative-time.js";
import { StateDot } from "../../../components/state-dot.js";
import { useServedAt } from "../../../live/use-served-at.js";
import { megabytes, rate } from "../../overview/figures.js";
import { activityOf, type App } from "../app.js";
import { appUrl } from "../app-url.js";
import type { VersionTransaction } from "../use-version-switches.js";
import { DeploymentActions } from "./deployment-actions.js";
import { FileChanges } from "./file-changes.js";
import { installedAt } from "./timeline.js";

export interface DeploymentProps {
  readonly app: App;
  readonly installed: InstalledVersion;
  readonly metrics: readonly WorkerMetrics[];
  readonly may: { readonly change: boolean; readonly restart: boolean; readonly remove: boolean };
  readonly switches: VersionTransaction;
  /** Returns the folder of a version in the files API. Undefined until the folder is known. */
  readonly folderOf: (version: string) => string | undefined;
  readonly isCompared: boolean;
  readonly onCompare: (isOpen: boolean) => void;
  readonly onDelete: () => void;
}

/** One version in the timeline: state, installation, commit, figures, actions, and its differences from the active version. */
export function Deployment(props: DeploymentProps) {
  const { app, installed, metrics, folderOf, isCompared, onCompare } = props;
  const servedAt = useServedAt();
  const { version, enabled, source } = installed;
  const isActive = app.serving?.version === version && app.serving.source === source;
  const active = app.serving;
  const canCompare = active !== undefined && !isActive && active.source === "uploaded" && source === "uploaded";
  const [before, after] = canCompare ? [folderOf(active.version), folderOf(version)] : [];
  const compareText = isCompared ? "Hide the differences" : `Compare with ${active?.version}`;
  const id = `compare-${version}`;
  return (
    <li className={`timeline-entry${isActive ? " timeline-active" : ""}`} aria-label={version}>
      <div className="timeline-main">
        <div className="timeline-facts">
          <p className="timeline-version">
            {enabled ? (
              <a href={appUrl(servedAt, app.name, version)} target="_blank" rel="noreferrer" className="app-link">
                {version}
              </a>
            ) : (
              version
            )}{" "}
            <VersionState isActive={isActive} isEnabled={enabled} />
          </p>
          <Installed app={app} installed={installed} />
          <Figures rows={metrics.filter((row) => row.version === version)} />
        </div>
        <DeploymentActions {...props} isActive={isActive} />
      </div>
      {before !== undefined && after !== undefined && (
        <>
          <Button
            kind="bare"
            aria-expanded={isCompared}
            aria-controls={id}
            aria-label={`${compareText}: ${version}`}
            onPress={() => onCompare(!isCompared)}
          >
            {compareText}
          </Button>
          <div id={id}>{isCompared && <FileChanges before={before} after={after} />}</div>
        </>
      )}
    </li>
  );
}

function VersionState({ isActive, isEnabled }: { isActive: boolean; isEnabled: boolean }) {
  if (!isEnabled) return <StateDot state="disabled">disabled</StateDot>;
  return isActive ? <StateDot state="ok">active</StateDot> : <StateDot state="idle">enabled</StateDot>;
}

/**
 * Shows when a version was installed, by which key and with which client, and the details that `runtimectl deploy` wrote into the manifest.
 */
function Installed({ app, installed }: { app: App; installed: InstalledVersion }) {
  const { version, installation, source } = installed;
  const deploy = source === "uploaded" ? app.deploys[version] : undefined;
  const at = installedAt(app, installed);
  if (source === "built-in") return <p className="quiet">Part of the daemon</p>;
  return (
    <>
      <p className="quiet">
        {at === undefined ? (
          "Installed outside of the API, so time and key are unknown"
        ) : (
          <>
            <RelativeTime at={at} /> (<DateAndTime atMs={at * 1000} />){" "}
            {installation ? installerOf(installation) : deploy?.by && `by ${deploy.by}`}
          </>
        )}
      </p>
      {(deploy?.commit !== undefined || deploy?.message !== undefined) && (
        <p>
          {deploy.commit !== undefined && <code title={deploy.commit}>{deploy.commit.slice(0, 7)}</code>}
          {deploy.dirty === true && <span className="quiet"> with uncommitted changes</span>} {deploy.message}
          {installation && deploy.by !== undefined && deploy.by !== installation.by && <span className="quiet"> · {deploy.by}</span>}
        </p>
      )}
    </>
  );
}

function Figures({ rows }: { rows: readonly WorkerMetrics[] }) {
  if (rows.length === 0) return null;
  const { requestsPerSecond, failed, failureShare, isolates, memoryBytes } = activityOf(rows);
  const figures = [`${rate(requestsPerSecond)} requests/s`, `${failed.toLocaleString("en-GB")} errors`];
  if (failureShare > 0) figures.push(`${percentOf(failureShare)} failing`);
  if (isolates > 0) figures.push(`${isolates} ${isolates === 1 ? "isolate" : "isolates"}`, megabytes(memoryBytes));
  return <p className="quiet small">{figures.join(" · ")}</p>;
}
