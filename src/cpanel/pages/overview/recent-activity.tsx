import * as audit from "../../../shared/contract/audit.js";
import { ErrorMessage } from "../../components/error-message.js";
import { RelativeTime } from "../../components/relative-time.js";
import { StateDot } from "../../components/state-dot.js";
import { DaemonAwayError } from "../../live/daemon-away-error.js";
import { useApi } from "../../live/use-api.js";
import { useResource } from "../../live/use-resource.js";
import { PanelLink } from "../../router/panel-link.js";
import { useMay } from "../../session/use-principal.js";
import { fromAudit } from "../activity/activity-entry.js";

const operations = { audit: { list: audit.list } };
const mostShown = 8;
const intervalMs = 10_000;

/** Lists the latest changes and rejected attempts, newest first. */
export function RecentActivity() {
  const api = useApi(operations);
  const mayAudit = useMay("audit:read");
  const { data, error } = useResource("activity.recent", () => api.audit.list({ query: { limit: mostShown } }), {
    intervalMs,
    isWanted: mayAudit,
  });
  const entries = (data?.entries ?? []).map(fromAudit).toReversed();
  return (
    <section className="card recent" aria-labelledby="overview-recent">
      <h2 id="overview-recent">Recent activity</h2>
      {!mayAudit && (
        <p className="quiet">
          The audit log needs the permission <code>audit:read</code>.
        </p>
      )}
      {error !== undefined && !(error instanceof DaemonAwayError) && <ErrorMessage title="The activity could not be read" error={error} />}
      {data && entries.length === 0 && <p className="quiet">No changes yet.</p>}
      <ul>
        {entries.map(({ key, at, action, outcome, who, subject }) => (
          <li key={key}>
            <p>
              {outcome !== "done" && <StateDot state={outcome === "refused" ? "degraded" : "failing"}>{outcome}</StateDot>} {action}{" "}
              <strong>{subject}</strong>
            </p>
            <p className="quiet small">
              <RelativeTime at={Math.floor(at / 1000)} />
              {who !== undefined && ` by ${who}`}
            </p>
          </li>
        ))}
      </ul>
      <PanelLink to="activity">All activity</PanelLink>
    </section>
  );
}
