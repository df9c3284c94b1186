import { Box } from "ink";
import { toPathSegments } from "../../../shared/package-name.js";
import { localTime } from "../../commands/workers/log-line.js";
import { useIsSettled, useIsStale, useQuery } from "../queries/hooks.js";
import { logLines, type LogLine } from "./log-line.js";
import { SafeText } from "../components/safe-text.js";
import type { LogLevel } from "../../../shared/contract/worker-logs.js";

const settledMs = 250;

/** Color of a log line by its level. All other levels have the terminal's default color. */
export const levelColors: Readonly<Partial<Record<LogLevel, string>>> = { warn: "yellow", error: "red" };

interface Props {
  readonly name: string;
  readonly version: string;
  /** Height of the component in lines. */
  readonly height: number;
}

/** Shows the newest log lines of a worker version. Requests the log only if the user has selected the version for at least `settledMs`. */
export function LogTail(props: Props) {
  const isSettled = useIsSettled(settledMs);
  return isSettled && props.height > 0 ? <LiveTail {...props} /> : null;
}

/**
 * Returns the newest lines. If none of them is an error, replaces the first line with the newest earlier error, so that the user sees the
 * cause of a failure.
 */
function tailOf(lines: readonly LogLine[], height: number): readonly LogLine[] {
  const newest = lines.slice(-height);
  const error = lines.findLast(({ entry, isFirst }) => isFirst && entry.level === "error" && entry.source !== "request");
  if (error === undefined || newest.includes(error)) return newest;
  return height > 1 ? [error, ...newest.slice(1 - height)] : [error];
}

function LiveTail({ name, version, height }: Props) {
  const log = useQuery(`log of ${name}@${version}`, (client) =>
    client.workers.logs({ params: toPathSegments(name), query: { version, limit: 50 } }),
  );
  const isStale = useIsStale();
  const lines =
    log.value &&
    tailOf(
      log.value.entries.flatMap((entry) => logLines(entry)),
      height,
    );
  if (lines === undefined)
    return <SafeText dimColor>{log.error ? `cannot load the log: ${log.error.message}` : "loading the log…"}</SafeText>;
  if (lines.length === 0) return <SafeText dimColor>the log is empty</SafeText>;
  return (
    <Box flexDirection="column" height={height} overflowY="hidden">
      {lines.map(({ key, entry, isFirst, text }) => (
        <SafeText key={key} dimColor={isStale} {...(levelColors[entry.level] ? { color: levelColors[entry.level] } : {})}>
          {`${isFirst ? localTime(new Date(entry.time), new Date()) : " ".repeat(12)} ${(isFirst ? entry.level : "").padEnd(5)} ${text}`}
        </SafeText>
      ))}
    </Box>
  );
}
