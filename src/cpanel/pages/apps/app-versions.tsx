import { useMemo, useState } from "react";
import { DataTable } from "../../components/data-table.js";
import { ErrorMessage } from "../../components/error-message.js";
import { Button } from "../../components/button.js";
import { useServedAt } from "../../live/use-served-at.js";
import { useMay } from "../../session/use-principal.js";
import type { App } from "./app.js";
import { DeleteApp } from "./delete-app.js";
import { useAppMetrics } from "./use-app-metrics.js";
import { useVersionSwitches } from "./use-version-switches.js";
import { versionColumns } from "./version-columns.js";

/** Table with the versions of an app, and the state and actions of each version. */
export function AppVersions({ app, onChanged }: { app: App; onChanged: () => Promise<void> }) {
  const servedAt = useServedAt();
  const metrics = useAppMetrics(app.name).get(app.name);
  const may = { change: useMay("workers:install"), restart: useMay("workers:restart"), remove: useMay("workers:remove") };
  const switches = useVersionSwitches(app, onChanged);
  const [deleting, setDeleting] = useState<{ readonly version: string | undefined }>();
  const columns = useMemo(
    () =>
      versionColumns({
        app,
        metrics: metrics ?? [],
        servedAt,
        may,
        switches,
        onDelete: (version) => setDeleting({ version }),
      }),
    [app, metrics, servedAt, may.change, may.restart, may.remove, switches],
  );
  const removable = app.versions.some(({ source }) => source === "uploaded");
  return (
    <>
      {switches.error !== undefined && <ErrorMessage title="The change failed" error={switches.error} />}
      <DataTable
        caption={`Versions of ${app.name}`}
        columns={columns}
        rows={app.versions}
        keyOf={({ version, source }) => `${version} ${source}`}
      />
      {!may.change && !may.restart && !may.remove && <p className="quiet app-note">This key is read-only.</p>}
      {may.remove && removable && (
        <div className="app-note">
          <Button onPress={() => setDeleting({ version: undefined })}>Delete app…</Button>
        </div>
      )}
      {may.remove && !removable && <p className="quiet app-note">This app is part of the daemon. It cannot be changed or deleted.</p>}
      {deleting && <DeleteApp app={app} version={deleting.version} onClose={() => setDeleting(undefined)} onDeleted={onChanged} />}
    </>
  );
}
