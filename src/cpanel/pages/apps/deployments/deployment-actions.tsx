import { Button } from "../../../components/button.js";
import { Icon } from "../../../components/icon.js";
import type { DeploymentProps } from "./deployment.js";

/** Buttons for the actions on a version that the key is allowed to run. A built-in version can only be restarted. */
export function DeploymentActions({ app, may, switches, onDelete, installed, isActive }: DeploymentProps & { readonly isActive: boolean }) {
  const { version, enabled, source } = installed;
  const isUploaded = source === "uploaded";
  const name = `${app.name} ${version}`;
  return (
    <div className="timeline-actions">
      {may.change && isUploaded && !isActive && (
        <Button aria-label={`Activate ${name}`} isPending={switches.isPending} onPress={() => switches.serve(installed)}>
          <Icon name="roll-back" /> Activate
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
        <Button kind="bare" aria-label={`Delete ${name}`} onPress={onDelete}>
          <Icon name="delete" /> Delete
        </Button>
      )}
    </div>
  );
}
