import { PanelLink } from "../../router/panel-link.js";
import { activityOf, type AppActivity } from "../apps/app.js";
import { useAppMetrics } from "../apps/use-app-metrics.js";
import { megabytes, milliseconds, rate } from "./figures.js";

const mostShown = 5;

interface Ranking {
  readonly id: string;
  readonly title: string;
  readonly valueTitle: string;
  readonly period: string;
  readonly figureOf: (activity: AppActivity) => number;
  readonly format: (value: number) => string;
}

const rankings: readonly Ranking[] = [
  {
    id: "busiest",
    title: "Busiest apps",
    valueTitle: "Requests/s",
    period: "Last minute",
    figureOf: ({ requestsPerSecond }) => requestsPerSecond,
    format: rate,
  },
  {
    id: "slowest",
    title: "Slowest apps",
    valueTitle: "p99",
    period: "Last minute",
    figureOf: ({ p99Ms }) => p99Ms ?? 0,
    format: (value) => milliseconds([value]),
  },
  {
    id: "largest",
    title: "Largest apps",
    valueTitle: "Memory",
    period: "Now",
    figureOf: ({ memoryBytes }) => memoryBytes,
    format: megabytes,
  },
];

/** Three short tables: the apps with the most requests, the highest latency and the most memory. */
export function AppRankings() {
  const metrics = useAppMetrics();
  const activities = [...metrics].filter(([name]) => name !== "cpanel").map(([name, rows]) => ({ name, activity: activityOf(rows) }));
  if (activities.length === 0) return null;
  return (
    <div className="rankings">
      {rankings.map((ranking) => (
        <RankingTable key={ranking.id} {...ranking} activities={activities} />
      ))}
    </div>
  );
}

type RankingTableProps = Ranking & { readonly activities: readonly { readonly name: string; readonly activity: AppActivity }[] };

function RankingTable({ id, title, valueTitle, period, figureOf, format, activities }: RankingTableProps) {
  const rows = activities
    .map(({ name, activity }) => ({ name, value: figureOf(activity) }))
    .filter(({ value }) => value > 0)
    .toSorted((one, other) => other.value - one.value)
    .slice(0, mostShown);
  return (
    <section className="card ranking" aria-labelledby={`overview-${id}`}>
      <h2 id={`overview-${id}`}>{title}</h2>
      <p className="quiet small">{period}</p>
      {rows.length === 0 ? (
        <p className="quiet">None.</p>
      ) : (
        <table>
          <caption className="visually-hidden">{title}</caption>
          <thead className="visually-hidden">
            <tr>
              <th scope="col">App</th>
              <th scope="col">{valueTitle}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, value }) => (
              <tr key={name}>
                <th scope="row">
                  <PanelLink to={`apps/${name}`} title={name}>
                    {name}
                  </PanelLink>
                </th>
                <td>{format(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
