import { Box, Text } from "ink";
import { failureShare, percentOf } from "../../../shared/failure-share.js";
import { toMegabytes, toMilliseconds, toRate } from "../../output/format.js";
import { sparkline } from "../../output/sparkline.js";
import { Rule } from "../components/rule.js";
import { SafeText } from "../components/safe-text.js";
import { useQuery } from "../queries/hooks.js";
import { useSize } from "../terminal/terminal-size.js";
import { fitted } from "../terminal/fitted.js";

const valueWidth = 9;
const shareWidth = 8;
/** Number of columns between the name and the first value. */
const gap = 2;
const nameShare = 0.3;

/**
 * Lists the workers with the most requests in the last minute. Shows request rate, failures, latency, memory, and a sparkline of the last
 * hour. Omits the control panel, because its requests only show the state of the daemon.
 */
export function BusiestWorkers() {
  const { columns, rows } = useSize();
  const { value: metrics } = useQuery("metrics", (client) => client.metrics.show({ query: {} }));
  const { value: sparklines = [] } = useQuery("sparklines", (client) => client.metrics.sparklines());
  const busiest = (metrics?.workers ?? [])
    .filter(({ name, requests }) => name !== "cpanel" && requests.total > 0)
    .toSorted((one, other) => other.requests.perSecond - one.requests.perSecond || other.requests.total - one.requests.total)
    .slice(0, Math.max(0, rows - 2));
  const nameWidth = Math.floor(columns * nameShare);
  const values = (rate: string, latency: string, memory: string) =>
    " ".repeat(gap) + [rate, latency, memory].map((value) => fitted(value, valueWidth)).join("");
  const chartWidth = Math.max(0, columns - nameWidth - gap - 3 * valueWidth - shareWidth);
  return (
    <Box flexDirection="column">
      <Rule title="Busiest workers" columns={columns} />
      {busiest.length === 0 && <SafeText dimColor>no requests since the daemon started</SafeText>}
      {busiest.length > 0 && (
        <Text bold wrap="truncate-end">
          {fitted("WORKER", nameWidth) + values("REQ/S", "P99", "MEMORY") + fitted("FAILED", shareWidth) + fitted("LAST HOUR", chartWidth)}
        </Text>
      )}
      {busiest.map(({ name, version, requests, latency, memory }) => {
        const share = failureShare([requests]);
        const cells = values(
          toRate(requests.perSecond),
          toMilliseconds(latency.recent.p99Ms),
          toMegabytes(memory.pssBytes ?? memory.rssBytes),
        );
        const chart = sparklines.find((one) => one.name === name)?.requests ?? [];
        return (
          <Text key={`${name}@${version}`} wrap="truncate-end">
            {fitted(`${name} ${version ?? ""}`, nameWidth) + cells}
            <Text color="red">{fitted(share === 0 ? "" : percentOf(share), shareWidth)}</Text>
            <Text color="cyan">{sparkline(chart, chartWidth)}</Text>
          </Text>
        );
      })}
    </Box>
  );
}
