import { Button } from "../components/button.js";
import { TimeOfDay } from "../components/time-of-day.js";
import { useObserved } from "../live/use-observed.js";
import { usePanel } from "../use-panel.js";
import "./banner.css";

/** Banner that is visible while the daemon does not respond. */
export function ConnectionBanner() {
  const { connection } = usePanel();
  const { awaySinceMs } = useObserved(connection.state);
  return (
    <div role="status" className="connection-banner">
      {awaySinceMs !== undefined && (
        <div className="banner banner-warn">
          <p>
            The daemon does not respond. The data is from <TimeOfDay atMs={awaySinceMs} /> or earlier. The panel retries automatically.
          </p>
          <Button onPress={() => void connection.find()}>Try now</Button>
        </div>
      )}
    </div>
  );
}
