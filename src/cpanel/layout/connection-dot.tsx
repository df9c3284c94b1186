import { useEffect, useState } from "react";
import { StateDot } from "../components/state-dot.js";
import { useObserved } from "../live/use-observed.js";
import { usePanel } from "../use-panel.js";

const lookMs = 1000;

/** Shows whether the daemon responds, or for how long it has been unreachable. The banner announces the change to screen readers. */
export function ConnectionDot() {
  const { awaySinceMs } = useObserved(usePanel().connection.state);
  return (
    <span className="connection-dot small">
      {awaySinceMs === undefined ? (
        <StateDot state="ok">
          <span className="connection-dot-word">Connected</span>
        </StateDot>
      ) : (
        <StateDot state="failing">
          <span className="connection-dot-word">
            Away <SecondsSince atMs={awaySinceMs} />
          </span>
        </StateDot>
      )}
    </span>
  );
}

/** Shows the seconds or minutes since a time, in Unix milliseconds. */
function SecondsSince({ atMs }: { atMs: number }) {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), lookMs);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.round((nowMs - atMs) / 1000));
  return seconds < 120 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
}
