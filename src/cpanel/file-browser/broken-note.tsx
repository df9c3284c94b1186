import { Button } from "../components/button.js";
import { PanelLink } from "../routing/panel-link.js";
import type { BrowsedPackage } from "./browsed-package.js";
import type { Broken } from "./use-save.js";

interface BrokenNoteProps {
  readonly of: BrowsedPackage;
  /** The file. */
  readonly name: string;
  readonly broken: Broken;
  readonly onUndo: () => void;
}

/** Reports that a file is saved and its package is not served since, with the way back. */
export function BrokenNote({ of: { kind, name: packageName }, name, broken: { text, failure }, onUndo }: BrokenNoteProps) {
  return (
    <div className="error-note" role="alert">
      <p className="error-note-title">
        {name} is saved, and {text}
      </p>
      <pre className="file-failure">{failure}</pre>
      <p className="folder-bar">
        <Button onPress={onUndo}>Undo the save</Button>
        {kind === "workers" && <PanelLink to={`apps/${packageName}/logs?level=error`}>See logs</PanelLink>}
      </p>
    </div>
  );
}
