import type { Column } from "../../components/data-table.js";
import { StateDot, type HealthState } from "../../components/state-dot.js";
import { DateAndTime } from "../../components/date-and-time.js";
import type { ActivityEntry, Outcome } from "./activity-entry.js";

const states: Readonly<Record<Outcome, HealthState>> = { done: "ok", refused: "degraded", failed: "failing", observed: "idle" };

/** The columns of the table of activity. A health change has the color of its new state. Only rows from the audit log have a client address. */
export function activityColumns({
  mayAudit,
  hasInstances,
}: {
  mayAudit: boolean;
  hasInstances: boolean;
}): readonly Column<ActivityEntry>[] {
  return [
    { id: "time", title: "Time", cell: ({ at }) => <DateAndTime atMs={at} /> },
    { id: "who", title: "Who", shownFrom: "wide", cell: ({ who }) => who ?? <span className="quiet">–</span> },
    { id: "action", title: "What", cell: (entry) => <Action {...entry} /> },
    {
      id: "subject",
      title: "Subject",
      shownFrom: "wide",
      cell: ({ subject, message }) => (
        <>
          {subject}
          {message !== undefined && <span className="activity-message quiet">{message}</span>}
        </>
      ),
    },
    {
      id: "outcome",
      title: "Outcome",
      cell: ({ outcome, state, code }) => (
        <>
          {state === undefined ? <StateDot state={states[outcome]}>{outcome}</StateDot> : <StateDot state={state} />}
          {code !== undefined && <code className="activity-message quiet">{code}</code>}
        </>
      ),
    },
    ...(hasInstances
      ? [{ id: "instance", title: "Instance", shownFrom: "wide", cell: ({ instance }) => instance ?? "–" } satisfies Column<ActivityEntry>]
      : []),
    ...(mayAudit
      ? [{ id: "address", title: "Address", shownFrom: "widest", cell: ({ address }) => address ?? "–" } satisfies Column<ActivityEntry>]
      : []),
    {
      id: "request",
      title: "Request",
      shownFrom: "widest",
      cell: ({ requestId }) => (requestId === undefined ? "–" : <code className="activity-request">{requestId}</code>),
    },
  ];
}

/** The cell with the action. A narrow screen has no columns for the key and the subject, so the cell also shows them there. */
function Action({ action, who, subject, instance }: ActivityEntry) {
  return (
    <>
      <code className="activity-action">{action}</code>
      <span className="activity-narrow activity-message quiet">
        {[subject, who && `by ${who}`, instance && `on ${instance}`].filter(Boolean).join(" ")}
      </span>
    </>
  );
}
