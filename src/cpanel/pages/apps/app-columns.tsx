import type { WorkerMetrics } from "../../../shared/contract/metrics.js";
import { Badge } from "../../components/badge.js";
import type { Column } from "../../components/data-table.js";
import { PanelLink } from "../../router/panel-link.js";
import { rate } from "../overview/figures.js";
import { activityOf, type App } from "./app.js";
import { FailureBadge, toneOf } from "./failure-badge.js";

export function appColumns(metrics: ReadonlyMap<string, readonly WorkerMetrics[]>): readonly Column<App>[] {
  const activity = ({ name }: App) => activityOf(metrics.get(name) ?? []);
  const shareOf = ({ name, serving }: App) =>
    activityOf((metrics.get(name) ?? []).filter(({ version }) => version === serving?.version)).failureShare;
  return [
    {
      id: "name",
      title: "Name",
      sortBy: ({ name }) => name,
      cell: ({ name, isBuiltIn }) => (
        <>
          <PanelLink to={`apps/${name}`} className="app-link">
            {name}
          </PanelLink>{" "}
          {isBuiltIn && <Badge>built-in</Badge>}
        </>
      ),
    },
    {
      id: "serving",
      title: "Serving",
      sortBy: ({ serving }) => serving?.version ?? "",
      cell: (app) =>
        app.serving ? (
          <>
            <Badge tone={toneOf(shareOf(app))} isName>
              {app.serving.version}
            </Badge>{" "}
            <FailureBadge share={shareOf(app)} />
          </>
        ) : (
          <Badge>off</Badge>
        ),
    },
    {
      id: "versions",
      title: "Versions",
      shownFrom: "wide",
      isNumeric: true,
      sortBy: ({ versions }) => versions.length,
      cell: ({ versions }) => versions.length.toLocaleString("en-GB"),
    },
    {
      id: "requests",
      title: "Requests/s",
      shownFrom: "wide",
      isNumeric: true,
      sortBy: (app) => activity(app).requestsPerSecond,
      cell: (app) => rate(activity(app).requestsPerSecond),
    },
    {
      id: "errors",
      title: "Errors",
      shownFrom: "widest",
      isNumeric: true,
      sortBy: (app) => activity(app).failed,
      cell: (app) => activity(app).failed.toLocaleString("en-GB"),
    },
    {
      id: "isolates",
      title: "Isolates",
      shownFrom: "widest",
      isNumeric: true,
      sortBy: (app) => activity(app).isolates,
      cell: (app) => activity(app).isolates.toLocaleString("en-GB"),
    },
  ];
}
