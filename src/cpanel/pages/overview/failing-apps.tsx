import { requestHealth } from "../../../shared/failure-share.js";
import { PanelLink } from "../../router/panel-link.js";
import { activityOf } from "../apps/app.js";
import { FailureBadge } from "../apps/failure-badge.js";
import { useAppMetrics } from "../apps/use-app-metrics.js";

const mostShown = 5;

/** Lists the apps with many failed requests in the last minute, the highest share first. */
export function FailingApps() {
  const failing = [...useAppMetrics()]
    .map(([name, rows]) => ({ name, share: activityOf(rows).failureShare }))
    .filter(({ share }) => requestHealth(share) === "failing")
    .toSorted((one, other) => other.share - one.share);
  if (failing.length === 0) return null;
  return (
    <section className="card" aria-labelledby="overview-failing">
      <h2 id="overview-failing">Failing apps</h2>
      <ul className="ending">
        {failing.slice(0, mostShown).map(({ name, share }) => (
          <li key={name}>
            <PanelLink to={`apps/${name}/logs`}>{name}</PanelLink>
            <FailureBadge share={share} />
          </li>
        ))}
      </ul>
      {failing.length > mostShown && <PanelLink to="apps">All {failing.length}</PanelLink>}
    </section>
  );
}
