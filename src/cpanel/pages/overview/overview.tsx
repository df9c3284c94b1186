import { PageHeading } from "../../components/page-heading.js";
import { useMay } from "../../session/use-principal.js";
import { AppRankings } from "./app-rankings.js";
import { FirstSteps } from "./first-steps.js";
import { IncidentList } from "./incident-list.js";
import { RangeChoice } from "./range-choice.js";
import { RecentActivity } from "./recent-activity.js";
import { SetUpNotice } from "./set-up-notice.js";
import { StatusSentence } from "./status-sentence.js";
import { TrafficCharts, TrafficTiles, useTraffic } from "./traffic.js";
import { useIncidents } from "./use-incidents.js";
import "../../components/card.css";
import "./overview.css";

/** First page of the panel, with the state of the daemon, its problems, its load and its latest changes. */
export function Overview() {
  const incidents = useIncidents();
  const traffic = useTraffic();
  const mayWorkers = useMay("workers:read");
  return (
    <>
      <PageHeading title="Overview" note={<StatusSentence {...incidents} />}>
        {mayWorkers && !traffic.isRestricted && <RangeChoice />}
      </PageHeading>
      <div className="overview">
        <IncidentList {...incidents} />
        <SetUpNotice checks={incidents.checks} />
        {mayWorkers && <FirstSteps />}
        {mayWorkers && <TrafficTiles {...traffic} />}
        <div className="overview-columns">
          {mayWorkers && <TrafficCharts {...traffic} />}
          <RecentActivity />
        </div>
        {mayWorkers && <AppRankings />}
      </div>
    </>
  );
}
