import { show } from "../../../shared/contract/metrics.js";
import { failureShare } from "../../../shared/failure-share.js";
import { pluralize } from "../../components/pluralize.js";
import { ErrorMessage } from "../../components/error-message.js";
import { DaemonAwayError } from "../../live/daemon-away-error.js";
import { useApi } from "../../live/use-api.js";
import { FailureBadge } from "../apps/failure-badge.js";
import { useResource } from "../../live/use-resource.js";
import { megabytes, rate } from "./figures.js";
import { Chart } from "../../components/chart.js";
import { Sparkline } from "../../components/sparkline.js";
import { StatTile } from "../../components/stat-tile.js";
import { mostPoints, useHistory } from "./use-history.js";

const operations = { metrics: { show } };
const intervalMs = 2000;

/** Cards with the request rate and the number of isolates: current values, and charts since the page was opened. */
export function Traffic() {
  const api = useApi(operations);
  const { data, error, answeredAtMs } = useResource("metrics.totals", () => api.metrics.show({ query: { detail: "totals" } }), {
    intervalMs,
  });
  const history = useHistory(answeredAtMs, data && { requests: data.totals.requests.total, isolates: data.totals.isolates.running });
  if (!data)
    return error === undefined || error instanceof DaemonAwayError ? null : (
      <ErrorMessage title="The metrics could not be read" error={error} />
    );
  const { requests, isolates, memory } = data.totals;
  const { isolatePool } = data.daemon;
  return (
    <>
      <StatTile
        label="Requests"
        value={rate(requests.perSecond)}
        unit="per second"
        note={
          <>
            {requests.inFlight} in flight · {requests.queued} queued · {requests.total.toLocaleString("en-GB")} since the start ·{" "}
            {pluralize(requests.failed, "error")} <FailureBadge share={failureShare([requests])} />
          </>
        }
      >
        <Sparkline
          label="Requests per second while this page was open"
          values={history.map(({ perSecond }) => perSecond)}
          capacity={mostPoints}
          format={rate}
        />
      </StatTile>
      <StatTile
        label="Isolates"
        value={isolates.running}
        {...(isolatePool ? { unit: `of ${isolatePool.size} places` } : {})}
        note={`${isolates.starting} starting · ${isolates.draining} draining · ${megabytes(memory.pssBytes ?? memory.rssBytes)}`}
      >
        <Sparkline
          label="Isolates while this page was open"
          values={history.map((point) => point.isolates)}
          capacity={mostPoints}
          format={String}
        />
      </StatTile>
      <div className="overview-wide">
        <Chart
          title="Traffic"
          at={history.map(({ atMs }) => atMs / 1000)}
          series={[{ label: "Requests/s", color: "--chart-p90", values: history.map(({ perSecond }) => perSecond) }]}
          format={rate}
        />
      </div>
    </>
  );
}
