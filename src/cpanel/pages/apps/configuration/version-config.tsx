import { useState, type ReactNode } from "react";
import * as configuration from "../../../../shared/contract/configuration.js";
import type { ConfigField, WorkerConfig } from "../../../../shared/contract/configuration.js";
import { toPathSegments } from "../../../../shared/package-name.js";
import { Button } from "../../../components/button.js";
import { Icon } from "../../../components/icon.js";
import { ResourceDetail } from "../../../components/resource-detail.js";
import { useApi } from "../../../live/use-api.js";
import { useResource } from "../../../live/use-resource.js";
import { useMay } from "../../../session/use-principal.js";
import { ManifestEditor } from "../../configuration/manifest-editor.js";
import { useConfigChange, type ConfigEdit } from "../../configuration/use-config-change.js";
import type { App } from "../app.js";
import { EditField } from "./edit-field.js";
import { EnvTable } from "./env-table.js";
import { fieldGroups } from "./field-schemas.js";
import { FieldTable } from "./field-table.js";

const operations = { workerConfig: { show: configuration.showOfWorker, change: configuration.changeOfWorker } };

interface VersionConfigProps {
  readonly app: App;
  readonly version: string;
  /** Content of the bar above the fields: the choice of the version. */
  readonly children: ReactNode;
}

/** The configuration of one version: all fields with source and limit, and the variables. */
export function VersionConfig({ app, version, children }: VersionConfigProps) {
  const api = useApi(operations);
  const params = { ...toPathSegments(app.name), version };
  const resource = useResource<WorkerConfig>(`config.workers.${app.name} ${version}`, () => api.workerConfig.show({ params }), {
    isWanted: useMay("workers:read"),
  });
  const mayInstall = useMay("workers:install");
  const save = useConfigChange({
    subject: `${app.name} ${version}`,
    change: (body) => api.workerConfig.change({ params, body }),
    undoOf,
    onChanged: resource.refresh,
  });
  // The dialog keeps the configuration with which the user opened it, because the etag must match the shown value.
  const [edited, setEdited] = useState<{ readonly config: WorkerConfig; readonly field: ConfigField }>();
  // The version whose manifest the user edits as text.
  const [textVersion, setTextVersion] = useState<string>();
  const isEditingText = textVersion === version;
  const mayEditText = mayInstall && resource.data?.editable === true && !isEditingText;
  const edit = (config: WorkerConfig, field: ConfigField) => {
    save.reset();
    setEdited({ config, field });
  };
  return (
    <>
      <div className="config-bar">
        {children}
        {mayEditText && (
          <Button
            onPress={() => {
              save.reset();
              setTextVersion(version);
            }}
          >
            <Icon name="edit" /> Edit as YAML
          </Button>
        )}
      </div>
      <ResourceDetail noun="configuration" permission="workers:read" resource={resource} one={resource.data} empty={null}>
        {(config) => {
          const isEditable = mayInstall && config.editable;
          const known = new Set(fieldGroups.flatMap(({ fields }) => Object.keys(fields)));
          const others = config.fields.filter(({ name }) => !known.has(name));
          return (
            <>
              <ReadOnlyReason mayInstall={mayInstall} isEditable={config.editable} />
              {config.problem !== undefined && <p className="config-note">The daemon cannot use the manifest: {config.problem}</p>}
              {isEditingText && <ManifestEditor config={config} save={save} onClose={() => setTextVersion(undefined)} />}
              {[
                ...fieldGroups.map(
                  ({ title, fields }) => [title, config.fields.filter(({ name }) => Object.hasOwn(fields, name))] as const,
                ),
                ["Other fields", others] as const,
              ]
                .filter(([, fields]) => fields.length > 0)
                .map(([title, fields]) => (
                  <FieldTable
                    key={title}
                    title={title}
                    fields={fields}
                    {...(isEditable && !isEditingText ? { onEdit: (field: ConfigField) => edit(config, field) } : {})}
                  />
                ))}
              <EnvTable key={version} config={config} isEditable={isEditable && !isEditingText} save={save} />
              {edited && <EditField {...edited} save={save} onClose={() => setEdited(undefined)} />}
            </>
          );
        }}
      </ResourceDetail>
    </>
  );
}

function ReadOnlyReason({ mayInstall, isEditable }: { mayInstall: boolean; isEditable: boolean }) {
  if (!isEditable)
    return <p className="config-note">Read-only: this version is part of the daemon, or the daemon changes no files in its folder.</p>;
  if (mayInstall) return null;
  return (
    <p className="config-note">
      Read-only: to change the configuration and to see values of variables, a key needs the permission <code>workers:install</code>.
    </p>
  );
}

/** Returns the edit that restores the previous manifest. If no manifest existed, returns the edit that removes the new fields. */
function undoOf({ yaml }: WorkerConfig, edit: ConfigEdit): ConfigEdit | undefined {
  if (yaml !== null && yaml !== "") return { yaml };
  const set = "set" in edit ? edit.set : undefined;
  return set && { set: Object.fromEntries(Object.keys(set).map((name) => [name, null])) };
}
