import icon from "../icon.svg";
import { PageHeading } from "../components/page-heading.js";
import { useObserved } from "../live/use-observed.js";
import { ThemeSwitch } from "../layout/theme-switch.js";
import { usePanel } from "../use-panel.js";
import { SignInForm } from "./sign-in-form.js";
import "./gate.css";

/**
 * Page that replaces every other page while no session exists. After the sign-in, the requested page appears. `onTyping` runs when the user
 * types the API key.
 */
export function SignInPage({ onTyping }: { onTyping: () => void }) {
  const { connection, session } = usePanel();
  const state = useObserved(session.state);
  const { discovery } = useObserved(connection.state);
  const isPlain = location.protocol === "http:" && !isLoopback(location.hostname);
  return (
    <main className="gate">
      <div className="gate-card">
        <p className="gate-name">
          <img src={icon} alt="" width="24" height="24" />
          runtimed
        </p>
        <PageHeading
          title="Sign in"
          note={
            <>
              runtimed {discovery?.version} at {location.host}
            </>
          }
        />
        {state.phase === "signed-out" && state.hasLeft && (
          <p role="status" className="gate-note">
            You have signed out.
          </p>
        )}
        {isPlain && (
          <p className="gate-note gate-warning">This connection is not encrypted: others on the network can read the key. Use https.</p>
        )}
        <SignInForm onTyping={onTyping} />
      </div>
      <ThemeSwitch />
    </main>
  );
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || host.endsWith(".localhost") || host.startsWith("127.");
}
