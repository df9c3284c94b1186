import { auditActions, list } from "../../../shared/contract/audit.js";
import { ErrorMessage } from "../../components/error-message.js";
import { RelativeTime } from "../../components/relative-time.js";
import { StateDot } from "../../components/state-dot.js";
import { DaemonAwayError } from "../../live/daemon-away-error.js";
import { useApi } from "../../live/use-api.js";
import { useResource } from "../../live/use-resource.js";
import { PanelLink } from "../../router/panel-link.js";
import { useMay } from "../../session/use-principal.js";
import { fromAudit, type ActivityEntry } from "../activity/activity-entry.js";
import { useHealthChanges } from "./use-health-changes.js";

const operations = { audit: { list } };
const mostShown = 8;
const intervalMs = 10_000;

/** All actions except sign-ins, which are frequent and change nothing. */
const shownActions = auditActions.filter((type) => type !== "session.opened").join(",");

/** Lists the latest changes, rejected attempts and health changes, newest first. The page Activity also contains sign-ins. */
export function RecentActivity() {
  const api = useApi(operations);
  const mayAudit = useMay("audit:read");
  const { data, error } = useResource("activity.recent", () => api.audit.list({ query: { limit: mostShown, action: shownActions } }), {
    intervalMs,
    isWanted: mayAudit,
  });
  const health = useHealthChanges(mostShown);
  const entries = [...(data?.entries ?? []).map(fromAudit), ...health].toSorted((one, other) => other.at - one.at).slice(0, mostShown);
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
        {entries.map((entry) => (
          <li key={entry.key}>
            <Entry {...entry} />
          </li>
        ))}
      </ul>
      <PanelLink to="activity">All activity</PanelLink>
    </section>
  );
}

/** One entry. A health change begins with the new state, and shows its cause. */
function Entry({ at, action, outcome, state, who, subject, message, instance }: ActivityEntry) {
  const isHealth = state !== undefined;
  return (
    <>
      <p>
        {isHealth && <StateDot state={state} />}
        {!isHealth && outcome !== "done" && <StateDot state={outcome === "refused" ? "degraded" : "failing"}>{outcome}</StateDot>}{" "}
        {!isHealth && action} <strong>{subject}</strong>
      </p>
      {isHealth && message !== undefined && message !== state && <p className="small">{message}</p>}
      <p className="quiet small">
        <RelativeTime at={Math.floor(at / 1000)} />
        {who !== undefined && ` by ${who}`}
        {instance !== undefined && ` on ${instance}`}
      </p>
    </>
  );
}
