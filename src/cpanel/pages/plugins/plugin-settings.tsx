import { useState } from "react";
import * as configuration from "../../../shared/contract/configuration.js";
import type { PluginConfig, WorkerConfig } from "../../../shared/contract/configuration.js";
import { Button } from "../../components/button.js";
import { Icon } from "../../components/icon.js";
import { ResourceDetail } from "../../components/resource-detail.js";
import { useApi } from "../../live/use-api.js";
import { useResource } from "../../live/use-resource.js";
import { useMay } from "../../session/use-principal.js";
import { ManifestEditor } from "../configuration/manifest-editor.js";
import { useConfigChange, type ConfigEdit } from "../configuration/use-config-change.js";
import { PluginSettingsForm } from "./plugin-settings-form.js";
import "../../components/card.css";
import "../configuration/configuration.css";

const operations = { pluginConfig: { show: configuration.showOfPlugin, change: configuration.changeOfPlugin } };

interface PluginSettingsProps {
  readonly name: string;
  /** Requests the list of plugins again. The daemon reloads a plugin when its settings change. */
  readonly onChanged: () => Promise<void>;
}

/** The settings of a plugin: a form from `configSchema` of its manifest, and the manifest as YAML beside it. */
export function PluginSettings({ name, onChanged }: PluginSettingsProps) {
  const api = useApi(operations);
  const params = { name };
  const resource = useResource<PluginConfig>(`config.plugins.${name}`, () => api.pluginConfig.show({ params }), {
    isWanted: useMay("plugins:read"),
  });
  const [mayConfigure, mayInstall] = [useMay("plugins:config"), useMay("plugins:install")];
  const [isEditingText, setEditingText] = useState(false);
  const save = useConfigChange({
    subject: name,
    change: (body) => api.pluginConfig.change({ params, body }),
    undoOf,
    onChanged: async () => {
      await Promise.all([resource.refresh(), onChanged()]);
    },
  });
  return (
    <section className="config-section plugin-settings" aria-labelledby="plugin-settings">
      <div className="config-section-head">
        <h2 id="plugin-settings">Settings</h2>
        {mayConfigure && mayInstall && resource.data?.editable === true && !isEditingText && (
          <Button
            onPress={() => {
              save.reset();
              setEditingText(true);
            }}
          >
            <Icon name="edit" /> Edit as YAML
          </Button>
        )}
      </div>
      <ResourceDetail noun="setting" permission="plugins:read" resource={resource} one={resource.data} empty={null}>
        {(config) => (
          <div className="plugin-settings-body">
            <ReadOnlyReason mayConfigure={mayConfigure} isEditable={config.editable} />
            {config.problem !== undefined && <p className="config-note">The daemon cannot use the manifest: {config.problem}</p>}
            {isEditingText ? (
              <ManifestEditor config={config} save={save} onClose={() => setEditingText(false)} />
            ) : (
              <PluginSettingsForm config={config} save={save} isEditable={mayConfigure && config.editable} />
            )}
          </div>
        )}
      </ResourceDetail>
    </section>
  );
}

function ReadOnlyReason({ mayConfigure, isEditable }: { mayConfigure: boolean; isEditable: boolean }) {
  if (!isEditable) return <p className="config-note">Read-only: the daemon changes no files in the folder of this plugin.</p>;
  if (mayConfigure) return null;
  return (
    <p className="config-note">
      Read-only: to change settings of plugins, a key needs the permission <code>plugins:config</code>.
    </p>
  );
}

/** Returns the edit that restores the previous settings. If a setting was not in the manifest, the edit removes the setting. */
function undoOf({ fields, yaml }: WorkerConfig, edit: ConfigEdit): ConfigEdit | undefined {
  const set = "set" in edit ? edit.set : undefined;
  if (!set) return yaml === null ? undefined : { yaml };
  const before = (name: string) => fields.find((field) => field.name === name && field.source === "manifest")?.value ?? null;
  return { set: Object.fromEntries(Object.keys(set).map((name) => [name, before(name)])) };
}
