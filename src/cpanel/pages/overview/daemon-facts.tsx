import { ready } from "../../../shared/contract/health.js";
import * as keys from "../../../shared/contract/keys.js";
import * as plugins from "../../../shared/contract/plugins.js";
import * as workers from "../../../shared/contract/workers.js";
import { Badge } from "../../components/badge.js";
import { pluralize } from "../../components/pluralize.js";
import { Fact, Facts } from "../../components/facts.js";
import { TimeOfDay } from "../../components/time-of-day.js";
import { useApi } from "../../live/use-api.js";
import { useObserved } from "../../live/use-observed.js";
import { useResource, type Resource } from "../../live/use-resource.js";
import { PanelLink } from "../../router/panel-link.js";
import { useMay, usePrincipal } from "../../session/use-principal.js";
import { usePanel } from "../../use-panel.js";
import { KeyEnd } from "../keys/key-end.js";

const operations = { health: { ready }, workers: { list: workers.list }, plugins: { list: plugins.list }, keys: { list: keys.list } };

/** Card with the daemon's health and version, the signed-in key, and the numbers of packages and keys. */
export function DaemonFacts() {
  const api = useApi(operations);
  const principal = usePrincipal();
  const [mayWorkers, mayPlugins, mayKeys] = [useMay("workers:read"), useMay("plugins:read"), useMay("keys:read")];
  const health = useResource("health", () => api.health.ready());
  const apps = useResource("workers", () => api.workers.list(), { isWanted: mayWorkers });
  const installed = useResource("plugins", () => api.plugins.list(), { isWanted: mayPlugins });
  const active = useResource("keys", async () => (await api.keys.list()).keys, { isWanted: mayKeys });
  const uploaded = apps.data?.filter(({ source }) => source === "uploaded");
  const versions = uploaded?.reduce((sum, app) => sum + app.versions.length, 0) ?? 0;
  const failed = installed.data?.filter(({ status }) => status === "failed").length ?? 0;
  return (
    <Facts label="Daemon">
      <Fact name="Health">
        <Health resource={health} />
      </Fact>
      <Fact name="Version">{health.data?.version ?? "…"}</Fact>
      <Fact name="Signed in as">
        {principal.name}, {principal.role}
      </Fact>
      <Fact name="Your key ends">
        <KeyEnd expiresAt={principal.expiresAt} />
      </Fact>
      {mayWorkers && (
        <Fact name="Apps">
          <PanelLink to="apps">{uploaded ? pluralize(uploaded.length, "app") : "…"}</PanelLink>
          {uploaded && uploaded.length > 0 && <span className="quiet"> {pluralize(versions, "version")}</span>}
        </Fact>
      )}
      {mayPlugins && (
        <Fact name="Plugins">
          <PanelLink to="plugins">{installed.data ? pluralize(installed.data.length, "plugin") : "…"}</PanelLink>{" "}
          {failed > 0 && <Badge tone="bad">{failed} failed</Badge>}
        </Fact>
      )}
      {mayKeys && (
        <Fact name="Keys">
          <PanelLink to="keys">{active.data ? pluralize(active.data.length, "key") : "…"}</PanelLink>
        </Fact>
      )}
    </Facts>
  );
}

function Health({ resource }: { resource: Resource<unknown> }) {
  const { awaySinceMs } = useObserved(usePanel().connection.state);
  if (awaySinceMs !== undefined)
    return (
      <>
        <Badge tone="bad">unreachable</Badge>{" "}
        <span className="quiet">
          since <TimeOfDay atMs={awaySinceMs} />
        </span>
      </>
    );
  if (resource.error instanceof Error) return <Badge tone="bad">not ready</Badge>;
  return resource.data === undefined ? "…" : <Badge tone="good">ready</Badge>;
}
