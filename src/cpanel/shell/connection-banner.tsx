import { Button } from "../components/button.js";
import { useObserved } from "../live/use-observed.js";
import { usePanel } from "../use-panel.js";
import "./banner.css";

/** Says that the daemon does not answer; goes by itself when it does. */
export function ConnectionBanner() {
  const { connection } = usePanel();
  const { isAway } = useObserved(connection.state);
  return (
    <div role="status" className="connection-banner">
      {isAway && (
        <div className="banner banner-warn">
          <p>The daemon does not answer. What you see may be out of date; the panel tries again by itself.</p>
          <Button onPress={() => void connection.find()}>Try now</Button>
        </div>
      )}
    </div>
  );
}
