import { usePrincipal } from "../../session/use-principal.js";
import { PageHeading } from "../../components/page-heading.js";
import { DaemonFacts } from "./daemon-facts.js";
import { EndingKeys } from "./ending-keys.js";
import { FailingApps } from "./failing-apps.js";
import { FirstSteps } from "./first-steps.js";
import { Traffic } from "./traffic.js";
import "../../components/card.css";
import "./overview.css";

/** Page with the state of the daemon, failing apps, first steps, the traffic, and keys that expire within 14 days. */
export function Overview() {
  const { permissions } = usePrincipal();
  return (
    <>
      <PageHeading title="Overview" />
      <div className="overview">
        <DaemonFacts />
        {permissions.includes("workers:read") && <FailingApps />}
        {permissions.includes("workers:read") && <FirstSteps />}
        {permissions.includes("workers:read") && <Traffic />}
        {permissions.includes("keys:read") && <EndingKeys />}
      </div>
    </>
  );
}
