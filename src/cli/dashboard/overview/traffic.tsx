import { Box, Text } from "ink";
import type { MetricsHistory } from "../../../shared/contract/metrics-history.js";
import { failureShare, percentOf } from "../../../shared/failure-share.js";
import { toMegabytes, toMilliseconds, toRate } from "../../output/format.js";
import { largest, sparkline } from "../../output/sparkline.js";
import { Rule } from "../components/rule.js";
import { SafeText } from "../components/safe-text.js";
import { useQuery } from "../queries/hooks.js";
import { useSize } from "../terminal/terminal-size.js";
import { fitted } from "../terminal/fitted.js";

const nameWidth = 10;
const valueWidth = 18;

/** Number of points in one hour. The daemon has one point per 10 s. */
const hourPoints = 360;

/** Number of rows of the traffic panel: a rule and its lines. */
export const trafficRows = 7;

/** Shows the current traffic of the daemon, and its last hour as sparklines. */
export function Traffic() {
  const { columns } = useSize();
  const { value: metrics, error } = useQuery("metrics", (client) => client.metrics.show({ query: {} }));
  const { value: history } = useQuery("history", (client) => client.metrics.history({ query: { range: "1h" } }));
  if (!metrics)
    return (
      <Box flexDirection="column">
        <Rule title="Traffic" columns={columns} />
        <SafeText>{error ? `not available: ${error.message}` : "…"}</SafeText>
      </Box>
    );
  const { requests, isolates, memory } = metrics.totals;
  const { isolatePool, eventLoopLag } = metrics.daemon;
  const share = failureShare([requests]);
  const { points } = history ?? none;
  const room = Math.max(0, columns - nameWidth - valueWidth);
  // Shows intervals before the first point as zero, so that the sparkline always covers one hour.
  const missing = Array.from<number>({ length: Math.max(0, hourPoints - points.at.length) }).fill(0);
  const chart = (values: readonly (number | null)[], combine?: typeof largest) =>
    sparkline([...missing, ...values.map((value) => value ?? 0)], room, combine);
  const lines = [
    { name: "requests", value: `${toRate(requests.perSecond)}/s`, chart: chart(points.requests), color: "cyan" },
    {
      name: "failed",
      value: share === 0 ? "none" : `${percentOf(share)} now`,
      chart: chart(points.failed),
      color: "red",
      isBad: share > 0,
    },
    {
      name: "p99",
      value: toMilliseconds(points.p99Ms.at(-1) ?? null),
      chart: chart(points.p99Ms, largest),
      color: "magenta",
    },
    {
      name: "memory",
      value: toMegabytes(memory.pssBytes ?? memory.rssBytes),
      chart: chart(points.memoryBytes, largest),
      color: "blue",
    },
    {
      name: "isolates",
      value: `${isolates.running}${isolatePool ? ` of ${isolatePool.size}` : ""}`,
      chart: chart(points.isolates, largest),
      color: "blue",
    },
    { name: "loop lag", value: `p99 ${toMilliseconds(eventLoopLag.p99Ms)}`, chart: "", color: "blue" },
  ];
  return (
    <Box flexDirection="column">
      <Rule title="Traffic" note="last hour" columns={columns} />
      {lines.map(({ name, value, chart: line, color, isBad = false }) => (
        <Text key={name} wrap="truncate-end">
          <Text dimColor>{fitted(name, nameWidth)}</Text>
          <Text {...(isBad ? { color: "red" } : {})}>{fitted(value, valueWidth)}</Text>
          <Text color={color}>{line}</Text>
        </Text>
      ))}
    </Box>
  );
}

const none: Pick<MetricsHistory, "points"> = {
  points: { at: [], requests: [], failed: [], p50Ms: [], p99Ms: [], memoryBytes: [], cpuSeconds: [], isolates: [] },
};
