import { Box } from "ink";
import type { ReactNode } from "react";
import { readyCount } from "../../../shared/instance-list.js";
import { endOn, pluralize } from "../../output/format.js";
import { uploadedWorkers } from "../../uploaded-workers.js";
import { Detail, type Fact } from "../components/detail.js";
import { useActions } from "../actions/use-actions.js";
import { useInstances } from "../instances/use-instances.js";
import { useIsStale, useQuery } from "../queries/hooks.js";
import { useSession } from "../session/hooks.js";
import { SizeContext, useLayout, useSize } from "../terminal/terminal-size.js";
import { BusiestWorkers } from "./busiest-workers.js";
import { IncidentList, incidentRows } from "./incident-list.js";
import { readiness } from "./readiness.js";
import { RecentEvents } from "./recent-events.js";
import { Traffic, trafficRows } from "./traffic.js";
import { useIncidents } from "./use-incidents.js";

/** Number of rows for the facts about the daemon in a terminal with fewer than 120 columns. These rows do not contain the daemon's URL. */
const daemonRows = 5;
/**
 * Minimum number of free rows for both the busiest workers and the events, in a terminal with fewer than 120 columns. If fewer rows are
 * free, the screen omits the busiest workers.
 */
const leastSharedRows = 8;

/** The first screen: the incidents, then the load and state of the daemon, then the recent events. */
export function OverviewScreen() {
  const isStale = useIsStale();
  const layout = useLayout();
  const { columns, rows } = useSize();
  const incidents = useIncidents() ?? [];
  const daemon = useDaemonFacts();
  const { value: installed } = useQuery("workers", (client) => client.workers.list());
  useActions([], undefined, "runtimectl status");
  const topRows = incidentRows(incidents.length, Math.max(2, Math.floor(rows / 2)));
  const below = rows - topRows;
  const free = below - trafficRows - daemonRows;
  const busiestRows = free < leastSharedRows ? 0 : Math.floor(free / 2);
  const workerCount = installed ? uploadedWorkers(installed).length : 0;
  return (
    <Box flexDirection="column" height={rows}>
      <IncidentList {...{ incidents, workerCount, isStale }} height={topRows} />
      {layout === "wide" ? (
        <Box height={below}>
          <Pane columns={Math.floor(columns * 0.6)} rows={below}>
            <Part rows={trafficRows + 1}>
              <Traffic />
            </Part>
            <Part rows={below - trafficRows - 1}>
              <BusiestWorkers />
            </Part>
          </Pane>
          <Pane columns={columns - Math.floor(columns * 0.6)} rows={below}>
            <Part rows={trafficRows + 1}>
              <Detail title="Daemon" facts={daemon} isStale={isStale} />
            </Part>
            <Part rows={below - trafficRows - 1}>
              <RecentEvents />
            </Part>
          </Pane>
        </Box>
      ) : (
        <Pane columns={columns} rows={below}>
          <Part rows={Math.min(below, trafficRows)}>
            <Traffic />
          </Part>
          <Part rows={Math.min(daemonRows, below - trafficRows)} leastRows={1}>
            <Detail facts={daemon.slice(1)} isStale={isStale} />
          </Part>
          <Part rows={busiestRows}>
            <BusiestWorkers />
          </Part>
          <Part rows={free - busiestRows}>
            <RecentEvents />
          </Part>
        </Pane>
      )}
    </Box>
  );
}

interface AreaProps {
  readonly columns: number;
  readonly rows: number;
  readonly children: ReactNode;
}

/** A vertical column of the screen, with one or more parts. */
function Pane({ columns, rows, children }: AreaProps) {
  return (
    <SizeContext.Provider value={{ columns: columns - 1, rows }}>
      <Box flexDirection="column" width={columns} height={rows} flexShrink={0} overflowY="hidden" paddingRight={1}>
        {children}
      </Box>
    </SizeContext.Provider>
  );
}

interface PartProps extends Pick<AreaProps, "rows" | "children"> {
  /** Minimum number of rows that the part needs. With fewer rows, the screen does not show the part. */
  readonly leastRows?: number;
}

/** A part of a column. If `rows` is not set, the part needs at least two rows: its rule and one line. */
function Part({ rows, leastRows = 2, children }: PartProps) {
  const { columns } = useSize();
  if (rows < leastRows) return null;
  return (
    <SizeContext.Provider value={{ columns, rows }}>
      <Box flexDirection="column" height={rows} flexShrink={0} overflowY="hidden">
        {children}
      </Box>
    </SizeContext.Provider>
  );
}

function useDaemonFacts(): Fact[] {
  const { settings } = useSession();
  const ready = useQuery("readiness", readiness).value;
  const principal = useQuery("session", (client) => client.session.show()).value?.principal;
  const { value: installed, error: noWorkers } = useQuery("workers", (client) => client.workers.list());
  const workers = installed && uploadedWorkers(installed);
  const { value: plugins, error: noPlugins } = useQuery("plugins", (client) => client.plugins.list());
  const { value: instances = [] } = useInstances();
  const failed = plugins?.filter(({ status }) => status === "failed").length ?? 0;
  return [
    { name: "daemon", value: settings.origin.value },
    ...(instances.length > 1 ? [{ name: "instances", value: `${readyCount(instances)} of ${instances.length} ready` }] : []),
    {
      name: "workers",
      value: workers
        ? `${workers.length} (${pluralize(
            workers.reduce((sum, { versions }) => sum + versions.length, 0),
            "version",
          )})`
        : unknownBecause(noWorkers),
    },
    {
      name: "plugins",
      value: plugins ? `${plugins.length}${failed > 0 ? ` (${failed} failed)` : ""}` : unknownBecause(noPlugins),
      ...(failed > 0 ? { color: "red" } : {}),
    },
    { name: "health", value: ready?.state ?? "…", ...(ready ? { color: ready.state === "ready" ? "green" : "red" } : {}) },
    { name: "signed in", value: principal ? `${principal.name}, ${principal.role}` : "…" },
    {
      name: "key expires",
      value: principal ? (principal.expiresAt === undefined ? "never" : endOn(principal.expiresAt, Date.now())) : "…",
    },
  ];
}

/** Returns the text to show in place of a value that has not arrived: a placeholder, or the error of the request. */
function unknownBecause(error: Error | undefined): string {
  return error === undefined ? "…" : `not available: ${error.message}`;
}
