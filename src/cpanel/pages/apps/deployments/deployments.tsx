import { useState } from "react";
import { Button } from "../../../components/button.js";
import { ErrorMessage } from "../../../components/error-message.js";
import { useMay } from "../../../session/use-principal.js";
import { useSearch } from "../../../router/use-search.js";
import type { AppTabProps } from "../app-tabs.js";
import { DeleteApp } from "../delete-app.js";
import { useAppMetrics } from "../use-app-metrics.js";
import { useVersionSwitches } from "../use-version-switches.js";
import { timelineOf } from "./timeline.js";
import { Deployment } from "./deployment.js";
import { useVersionFolder } from "./version-folder.js";
import "./deployments.css";

/** Tab with the versions of an app as a timeline, the latest installation first, with the actions of each version. */
export function Deployments({ app, onChanged }: AppTabProps) {
  const metrics = useAppMetrics(app.name).get(app.name) ?? [];
  const may = { change: useMay("workers:install"), restart: useMay("workers:restart"), remove: useMay("workers:remove") };
  const switches = useVersionSwitches(app, onChanged);
  const folderOf = useVersionFolder(app);
  const [compared, setCompared] = useSearch("compare");
  const [deleting, setDeleting] = useState<{ readonly version: string | undefined }>();
  const removable = app.versions.some(({ source }) => source === "uploaded");
  const isReadOnly = !may.change && !may.restart && !may.remove;
  return (
    <>
      {switches.error !== undefined && <ErrorMessage title="The change failed" error={switches.error} onDismiss={switches.dismiss} />}
      <ol className="timeline" aria-label={`Versions of ${app.name}`}>
        {timelineOf(app).map((installed) => (
          <Deployment
            key={`${installed.version} ${installed.source}`}
            app={app}
            installed={installed}
            metrics={metrics}
            may={may}
            switches={switches}
            folderOf={folderOf}
            isCompared={compared === installed.version}
            onCompare={(isOpen) => setCompared(isOpen ? installed.version : "")}
            onDelete={() => setDeleting({ version: installed.version })}
          />
        ))}
      </ol>
      {isReadOnly && (
        <p className="quiet app-note">
          This key is read-only. To activate a version, a key needs the permission <code>workers:install</code>.
        </p>
      )}
      {may.remove && removable && (
        <div className="app-note">
          <Button onPress={() => setDeleting({ version: undefined })}>Delete app…</Button>
        </div>
      )}
      {may.remove && !removable && <p className="quiet app-note">This app is part of the daemon. It cannot be changed or deleted.</p>}
      {switches.dialog}
      {deleting && <DeleteApp app={app} version={deleting.version} onClose={() => setDeleting(undefined)} onDeleted={onChanged} />}
    </>
  );
}
