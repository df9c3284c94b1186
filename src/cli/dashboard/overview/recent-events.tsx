import { Box } from "ink";
import type { RuntimeEvent } from "../../../shared/contract/events.js";
import { useSyncExternalStore } from "react";
import { eventCells } from "../../output/change-line.js";
import { Rule } from "../components/rule.js";
import { SafeText } from "../components/safe-text.js";
import { useSession } from "../session/hooks.js";
import { useSize } from "../terminal/terminal-size.js";

/** Lists the newest events of the daemon, the newest first. */
export function RecentEvents() {
  const { columns, rows } = useSize();
  const { events } = useSession();
  const recent = useSyncExternalStore(events.subscribe, events.recent);
  return (
    <Box flexDirection="column">
      <Rule title="Recent events" columns={columns} />
      {recent.length === 0 && <SafeText dimColor>none since the daemon started</SafeText>}
      {grouped(recent)
        .slice(0, Math.max(0, rows - 1))
        .map(({ event, count }) => (
          <SafeText key={`${event.instance ?? ""} ${event.id}`} {...(problemTypes.has(event.type) ? { color: "red" } : {})}>
            {[timeOf(event.at), event.instance ?? "", ...eventCells(event, "").slice(1), count === 1 ? "" : `×${count}`]
              .filter((cell) => cell !== "")
              .join("  ")}
          </SafeText>
        ))}
    </Box>
  );
}

/**
 * Combines events with the same type, daemon and subject, such as repeated failed starts. Returns the newest event of each group with the number of
 * events.
 */
function grouped(events: readonly RuntimeEvent[]): { event: RuntimeEvent; count: number }[] {
  const groups = Map.groupBy(events, ({ type, instance, subject }) => `${type} ${instance ?? ""} ${JSON.stringify(subject)}`);
  return [...groups.values()].flatMap(([event, ...others]) => (event ? [{ event, count: others.length + 1 }] : []));
}

const problemTypes: ReadonlySet<string> = new Set(["worker.crashed", "worker.start-failed", "worker.backoff", "worker.data-full"]);

/** Formats Unix milliseconds as local time of day, such as `12:34:56`. */
function timeOf(at: number): string {
  return new Date(at).toTimeString().slice(0, 8);
}
