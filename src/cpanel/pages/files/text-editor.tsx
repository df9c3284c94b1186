import { useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { Button } from "../../components/button.js";
import { ErrorMessage } from "../../components/error-message.js";
import { CodeEditor } from "../../editor/code-editor.js";
import { FailedNote } from "./failed-note.js";
import type { Folder } from "./package-ref.js";
import { OverwriteDialog } from "./overwrite-dialog.js";
import { UnsavedDialog } from "./unsaved-dialog.js";
import { useSave, type OpenedFile } from "./use-save.js";
import { useUnsaved } from "./use-unsaved.js";

interface TextEditorProps {
  readonly folder: Folder;
  readonly name: string;
  readonly opened: OpenedFile;
  readonly download: ReactNode;
  readonly onReload: () => void;
}

/** Editor for a text file. Asks for a decision if the user leaves the page with unsaved changes. */
export function TextEditor({ folder, name, opened, download, onReload }: TextEditorProps) {
  const { saved, changedMeanwhile, isPending, error, broken, save, forget } = useSave(folder, name, opened);
  const [draft, setDraft] = useState(opened.text.text);
  // Holds the newest text, because the user can press Ctrl+S right after another key, before React has rendered the new text.
  const typed = useRef(draft);
  const isChanged = draft !== saved;
  const change = (text: string) => {
    typed.current = text;
    setDraft(text);
  };
  const unsaved = useUnsaved(isChanged);
  const saveByKey = (event: KeyboardEvent) => {
    if (event.key !== "s" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (typed.current !== saved) void save(typed.current);
  };
  return (
    <div className="file-editor" onKeyDown={saveByKey} role="presentation">
      <div className="folder-bar">
        <Button kind="primary" isDisabled={!isChanged} isPending={isPending} onPress={() => void save(draft)}>
          {isPending ? "Saving…" : "Save"}
        </Button>
        {isChanged && <Button onPress={() => change(saved)}>Discard changes</Button>}
        {download}
        <span className="quiet" role="status">
          {isChanged ? "Not saved" : ""}
        </span>
      </div>
      {error !== undefined && <ErrorMessage title="The file was not saved" error={error} />}
      {broken && (
        <FailedNote
          of={folder.of}
          failed={broken}
          onUndo={() => {
            change(broken.before);
            void save(broken.before);
          }}
        />
      )}
      <CodeEditor fileName={name} label={`Text of ${name}`} text={draft} onChange={change} />
      <p className="quiet small">Ctrl+F searches, Ctrl+S saves.</p>
      {changedMeanwhile && (
        <OverwriteDialog name={name} how={changedMeanwhile} onOverwrite={() => save(draft, true)} onReload={onReload} onClose={forget} />
      )}
      {unsaved.isAsking && <UnsavedDialog name={name} onStay={unsaved.stay} onDiscard={() => change(saved)} />}
    </div>
  );
}
