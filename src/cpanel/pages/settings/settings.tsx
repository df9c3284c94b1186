import * as health from "../../../shared/contract/health.js";
import * as settings from "../../../shared/contract/settings.js";
import { DateAndTime } from "../../components/date-and-time.js";
import { Fact, Facts } from "../../components/facts.js";
import { PageHeading } from "../../components/page-heading.js";
import { ResourceDetail } from "../../components/resource-detail.js";
import { StateDot } from "../../components/state-dot.js";
import { useApi } from "../../live/use-api.js";
import { useObserved } from "../../live/use-observed.js";
import { useResource } from "../../live/use-resource.js";
import { ThemeSwitch } from "../../layout/theme-switch.js";
import { useMay } from "../../session/use-principal.js";
import { usePanel } from "../../use-panel.js";
import { NotFound } from "../not-found.js";
import type { SectionProps } from "../sections.js";
import { DaemonSettings, Directories } from "./daemon-settings.js";
import "./settings.css";

const operations = { health: { ready: health.ready }, settings: { show: settings.show } };
const intervalMs = 60_000;
/** Prefix of the names of health checks for isolation layers. */
const isolationPrefix = "isolation:";

/** Page with the daemon's addresses, health checks and settings, and with the appearance of the panel. */
export function Settings({ rest }: SectionProps) {
  const api = useApi(operations);
  const mayChecks = useMay("keys:read");
  const { paths, connection } = usePanel();
  const { discovery } = useObserved(connection.state);
  const { data } = useResource("health.verbose", () => api.health.ready({ query: { verbose: "1" } }), { intervalMs, isWanted: mayChecks });
  const shown = useResource("settings", () => api.settings.show(), { intervalMs, isWanted: useMay("settings:read") });
  if (rest.length > 0) return <NotFound />;
  return (
    <>
      <PageHeading title="Settings" />
      {shown.data && (
        <div className="settings-tables">
          <Directories directories={shown.data.directories} />
        </div>
      )}
      <div className="settings">
        <div className="settings-column">
          <Facts label="This daemon">
            <Fact name="Version">{discovery?.version ?? "…"}</Fact>
            {shown.data && (
              <>
                <Fact name="Node.js">{shown.data.node}</Fact>
                <Fact name="Started">
                  <DateAndTime atMs={shown.data.startedAt * 1000} />
                </Fact>
              </>
            )}
            <Fact name="Address">{location.host}</Fact>
            {discovery && (
              <>
                <Fact name="API">
                  <code>{discovery.api}</code>
                </Fact>
                <Fact name="API reference">
                  <a href={paths.daemonPath + discovery.docs} target="_blank" rel="noreferrer">
                    {discovery.docs}
                  </a>
                </Fact>
              </>
            )}
          </Facts>
          <section className="card" aria-labelledby="settings-appearance">
            <h2 id="settings-appearance">Appearance</h2>
            <ThemeSwitch />
          </section>
        </div>
        {data?.checks && (
          <>
            <CheckFacts label="Health checks" checks={data.checks.filter(({ name }) => !name.startsWith(isolationPrefix))} />
            {/* Hidden if the page shows the settings, because the settings contain a table of the same layers. */}
            {!shown.data && <CheckFacts label="Isolation" checks={data.checks.filter(({ name }) => name.startsWith(isolationPrefix))} />}
          </>
        )}
      </div>
      <div className="settings-tables">
        <ResourceDetail noun="setting" permission="settings:read" resource={shown} one={shown.data} empty={null}>
          {(found) => <DaemonSettings settings={found} />}
        </ResourceDetail>
      </div>
    </>
  );
}

interface CheckFactsProps {
  readonly label: string;
  readonly checks: readonly { readonly name: string; readonly status: string; readonly message?: string | undefined }[];
}

/** Card with the state of each check, and a message if the check has one. */
function CheckFacts({ label, checks }: CheckFactsProps) {
  if (checks.length === 0) return null;
  return (
    <Facts label={label}>
      {checks.map(({ name, status, message }) => (
        <Fact key={name} name={name.replace(isolationPrefix, "").replaceAll("-", " ")}>
          <StateDot state={status === "ok" ? "ok" : "degraded"}>{status}</StateDot>
          {message !== undefined && <p className="quiet small">{message}</p>}
        </Fact>
      ))}
    </Facts>
  );
}
