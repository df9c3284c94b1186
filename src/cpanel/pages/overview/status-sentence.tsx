import { ready } from "../../../shared/contract/health.js";
import { ErrorMessage } from "../../components/error-message.js";
import { pluralize } from "../../components/pluralize.js";
import { StateDot } from "../../components/state-dot.js";
import { TimeOfDay } from "../../components/time-of-day.js";
import { DaemonAwayError } from "../../live/daemon-away-error.js";
import { useApi } from "../../live/use-api.js";
import { useObserved } from "../../live/use-observed.js";
import { useResource } from "../../live/use-resource.js";
import { PanelLink } from "../../router/panel-link.js";
import { useMay } from "../../session/use-principal.js";
import { usePanel } from "../../use-panel.js";
import { useApps } from "../apps/use-apps.js";
import { statusOf } from "./status.js";
import type { Incidents } from "./use-incidents.js";

const operations = { health: { ready } };

/** Shows the state of the daemon as one sentence, and the numbers of packages and keys. */
export function StatusSentence({ incidents, isLoaded, error, plugins, keys }: Incidents) {
  const mayWorkers = useMay("workers:read");
  const { apps, resource } = useApps();
  const uploaded = apps.filter(({ isBuiltIn }) => !isBuiltIn);
  const served = mayWorkers ? uploaded.filter(({ serving }) => serving !== undefined).length : undefined;
  return (
    <>
      <div role="status" className="status-sentence">
        <Sentence {...statusOf(incidents, served)} isLoaded={isLoaded && (!mayWorkers || resource.data !== undefined)} />
      </div>
      <p className="status-counts quiet">
        {resource.data && <PanelLink to="apps">{pluralize(uploaded.length, "app")}</PanelLink>}
        {plugins.data && <PanelLink to="plugins">{pluralize(plugins.data.length, "plugin")}</PanelLink>}
        {keys.data && <PanelLink to="keys">{pluralize(keys.data.length, "key")}</PanelLink>}
        {!mayWorkers && (
          <span>
            Apps are hidden: the key lacks the permission <code>workers:read</code>.
          </span>
        )}
      </p>
      {error !== undefined && !(error instanceof DaemonAwayError) && <ErrorMessage title="The state could not be read" error={error} />}
    </>
  );
}

function Sentence({ state, text, isLoaded }: ReturnType<typeof statusOf> & { readonly isLoaded: boolean }) {
  const api = useApi(operations);
  const { awaySinceMs } = useObserved(usePanel().connection.state);
  const { error } = useResource("health", () => api.health.ready());
  if (awaySinceMs !== undefined)
    return (
      <StateDot state="failing">
        <span>
          The daemon is unreachable since <TimeOfDay atMs={awaySinceMs} />
        </span>
      </StateDot>
    );
  if (error instanceof Error) return <StateDot state="failing">The daemon is not ready</StateDot>;
  if (!isLoaded) return <StateDot state="idle">Checking…</StateDot>;
  return <StateDot state={state}>{text}</StateDot>;
}
