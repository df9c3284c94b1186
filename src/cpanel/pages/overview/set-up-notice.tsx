import type { HealthCheck } from "../../../shared/contract/health.js";
import { setUpProblems } from "../../../shared/incidents.js";
import { StateDot } from "../../components/state-dot.js";
import { PanelLink } from "../../router/panel-link.js";
import { useMay } from "../../session/use-principal.js";

/**
 * Lists missing isolation layers and risky settings. Renders nothing if there are none, or if the key is not allowed to read the settings.
 */
export function SetUpNotice({ checks }: { checks: readonly HealthCheck[] | undefined }) {
  const maySettings = useMay("settings:read");
  const found = setUpProblems(checks);
  if (!maySettings || found.length === 0) return null;
  return (
    <section className="card set-up-notice small" aria-labelledby="overview-set-up">
      <h2 id="overview-set-up">Degraded set-up</h2>
      <ul>
        {found.map(({ name, message, status }) => (
          <li key={name}>
            <StateDot state="degraded">{name.replace(":", " ").replaceAll("-", " ")}</StateDot>{" "}
            <span className="quiet">{message ?? status}</span>
          </li>
        ))}
      </ul>
      <PanelLink to="settings">Settings of the daemon</PanelLink>
    </section>
  );
}
