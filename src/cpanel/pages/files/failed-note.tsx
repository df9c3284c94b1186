import { Button } from "../../components/button.js";
import { PanelLink } from "../../router/panel-link.js";
import type { PackageRef } from "./package-ref.js";
import type { Failed } from "./use-package-check.js";

interface FailedNoteProps {
  readonly of: PackageRef;
  readonly failed: Failed;
  /** Reverts the change. Undefined if the change cannot be reverted. */
  readonly onUndo?: () => void;
}

/** Reports that the daemon no longer serves a package after a change of its files. Offers to revert the change. */
export function FailedNote({ of: { kind, name }, failed: { change, text, failure }, onUndo }: FailedNoteProps) {
  return (
    <div className="error-note" role="alert">
      <p className="error-note-title">
        {change}, and {text}
      </p>
      <pre className="file-failure">{failure}</pre>
      <p className="folder-bar">
        {onUndo && <Button onPress={onUndo}>Undo the save</Button>}
        {kind === "workers" && <PanelLink to={`apps/${name}/logs?level=error`}>See logs</PanelLink>}
      </p>
    </div>
  );
}
