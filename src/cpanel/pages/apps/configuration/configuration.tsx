import { EmptyState } from "../../../components/empty-state.js";
import { SelectField } from "../../../components/select-field.js";
import { useSearch } from "../../../router/use-search.js";
import type { App } from "../app.js";
import type { AppTabProps } from "../app-tabs.js";
import { AddHost } from "../../hosts/add-host.js";
import { HostList } from "../../hosts/host-list.js";
import { SecretList } from "../secrets/secret-list.js";
import { VersionConfig } from "./version-config.js";
import "../../configuration/configuration.css";

/** Tab with the configuration of one version of an app, and with the secrets and host names of the whole app. */
export function Configuration({ app }: AppTabProps) {
  const [chosen, setChosen] = useSearch("version");
  const version =
    app.versions.find((installed) => installed.version === chosen)?.version ?? app.serving?.version ?? app.versions[0]?.version;
  return (
    <div className="config-page">
      {version === undefined ? (
        <EmptyState title="No version is installed" />
      ) : (
        <VersionConfig app={app} version={version}>
          {app.versions.length > 1 && <SelectField label="Version" value={version} onChange={setChosen} choices={versionChoices(app)} />}
        </VersionConfig>
      )}
      <section className="config-section" aria-labelledby="config-secrets">
        <h2 id="config-secrets">Secrets</h2>
        <SecretList app={app.name} />
      </section>
      <section className="config-section" aria-labelledby="config-hosts">
        <div className="config-section-head">
          <h2 id="config-hosts">Hosts</h2>
          <AddHost worker={app.name} />
        </div>
        <HostList worker={app.name} />
      </section>
    </div>
  );
}

function versionChoices({ versions, serving }: App): { value: string; label: string }[] {
  return [...new Set(versions.map(({ version }) => version))].map((version) => ({
    value: version,
    label: version === serving?.version ? `${version} (active)` : version,
  }));
}
