import type { InstalledVersion } from "../../../shared/worker-versions.js";
import { Button } from "../../components/button.js";
import type { VersionColumnsOptions } from "./version-columns.js";

/** Buttons for the actions on a version that the key is allowed to run. A built-in version can only be restarted. */
export function VersionActions({ app, may, switches, onDelete, installed }: VersionColumnsOptions & { installed: InstalledVersion }) {
  const { version, enabled, source } = installed;
  const isServing = app.serving?.version === version;
  const isUploaded = source === "uploaded";
  const name = `${app.name} ${version}`;
  return (
    <span className="row-actions">
      {may.change && isUploaded && !isServing && (
        <Button kind="bare" aria-label={`Serve this: ${name}`} isPending={switches.isPending} onPress={() => switches.serve(installed)}>
          Serve this
        </Button>
      )}
      {may.change && isUploaded && (
        <Button
          kind="bare"
          aria-label={`${enabled ? "Disable" : "Enable"} ${name}`}
          isPending={switches.isPending}
          onPress={() => switches.toggle(installed)}
        >
          {enabled ? "Disable" : "Enable"}
        </Button>
      )}
      {may.restart && enabled && (
        <Button kind="bare" aria-label={`Restart ${name}`} isPending={switches.isPending} onPress={() => switches.restart(installed)}>
          Restart
        </Button>
      )}
      {may.remove && isUploaded && (
        <Button kind="bare" aria-label={`Delete ${name}`} onPress={() => onDelete(version)}>
          Delete
        </Button>
      )}
    </span>
  );
}
