import { show } from "../../../shared/contract/metrics.js";
import { failureShare } from "../../../shared/failure-share.js";
import { pluralize } from "../../components/pluralize.js";
import { ErrorMessage } from "../../components/error-message.js";
import { DaemonAwayError } from "../../live/daemon-away-error.js";
import { useApi } from "../../live/use-api.js";
import { FailureBadge } from "../apps/failure-badge.js";
import { useResource } from "../../live/use-resource.js";
import { megabytes, rate } from "./figures.js";
import { Plot } from "./plot.js";
import { useHistory } from "./use-history.js";

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
      <section className="card" aria-labelledby="overview-traffic">
        <h2 id="overview-traffic">Requests</h2>
        <p className="figure">
          {rate(requests.perSecond)} <span className="quiet">per second</span>
        </p>
        <Plot label="Requests per second while this page was open" values={history.map(({ perSecond }) => perSecond)} format={rate} />
        <p className="quiet">
          {requests.inFlight} in flight · {requests.queued} queued · {requests.total.toLocaleString("en-GB")} since the start ·{" "}
          {pluralize(requests.failed, "error")} <FailureBadge share={failureShare([requests])} />
        </p>
      </section>
      <section className="card" aria-labelledby="overview-isolates">
        <h2 id="overview-isolates">Isolates</h2>
        <p className="figure">
          {isolates.running} {isolatePool && <span className="quiet">of {isolatePool.size} places</span>}
        </p>
        <Plot label="Isolates while this page was open" values={history.map((point) => point.isolates)} format={String} />
        <p className="quiet">
          {isolates.starting} starting · {isolates.draining} draining · {megabytes(memory.pssBytes ?? memory.rssBytes)}
        </p>
      </section>
    </>
  );
}
