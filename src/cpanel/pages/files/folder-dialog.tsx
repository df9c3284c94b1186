import type { FileEntry } from "../../../shared/contract/files.js";
import { ConfirmByName } from "../../components/confirm-by-name.js";
import type { Folder } from "./package-ref.js";
import type { FileToSend } from "./dropped-files.js";
import type { EntryAction } from "./entry-columns.js";
import { PathDialog } from "./path-dialog.js";
import { UploadFiles } from "./upload-files.js";
import { useFileApi } from "./use-file-api.js";

/** Action in a folder for which a dialog asks the user for input. */
export type FolderQuestion =
  | { readonly action: "make" }
  | { readonly action: "upload"; readonly files: readonly FileToSend[] }
  | { readonly action: EntryAction; readonly entry: FileEntry };

interface FolderDialogProps {
  readonly folder: Folder;
  readonly entries: readonly FileEntry[];
  readonly question: FolderQuestion;
  readonly onClose: () => void;
  /** Callback after a change. Receives the change as text for the user, such as `old.txt is deleted`. */
  readonly onChanged: (change: string) => Promise<void>;
}

/** Dialog that asks the user for the input of a folder action, then runs the action. */
export function FolderDialog({ folder, entries, question, onClose, onChanged }: FolderDialogProps) {
  if (question.action === "upload")
    return <UploadFiles folder={folder} entries={entries} files={question.files} onClose={onClose} onUploaded={onChanged} />;
  if (question.action === "make") return <MakeFolder folder={folder} onClose={onClose} onChanged={onChanged} />;
  const props = { folder, entry: question.entry, onClose, onChanged };
  if (question.action === "rename") return <RenameEntry {...props} />;
  return question.action === "move" ? <MoveEntry {...props} /> : <DeleteEntry {...props} />;
}

type DialogProps = Pick<FolderDialogProps, "folder" | "onClose" | "onChanged">;
type EntryDialogProps = DialogProps & { readonly entry: FileEntry };

function MakeFolder({ folder, onClose, onChanged }: DialogProps) {
  const api = useFileApi(folder.of.kind);
  const make = async (name: string) => {
    await api.mkdir({ body: { path: `${folder.path}/${name}` } });
    await onChanged(`The folder ${name} was created`);
  };
  return <PathDialog title="New folder" label="Name" initial="" action="Create folder" onSubmit={make} onClose={onClose} />;
}

function RenameEntry({ folder, entry, onClose, onChanged }: EntryDialogProps) {
  const api = useFileApi(folder.of.kind);
  const rename = async (newName: string) => {
    await api.rename({ body: { path: entry.path, newName } });
    await onChanged(`${entry.name} is renamed to ${newName}`);
  };
  return (
    <PathDialog title={`Rename ${entry.name}`} label="New name" initial={entry.name} action="Rename" onSubmit={rename} onClose={onClose} />
  );
}

function MoveEntry({ folder, entry, onClose, onChanged }: EntryDialogProps) {
  const api = useFileApi(folder.of.kind);
  const move = async (destPath: string) => {
    await api.move({ body: { path: entry.path, destPath } });
    await onChanged(`${entry.name} is moved to ${destPath}`);
  };
  return (
    <PathDialog
      title={`Move ${entry.name}`}
      label="To"
      hint="An existing folder, or a path that does not exist yet. Existing files are not overwritten."
      initial={entry.path}
      action="Move"
      onSubmit={move}
      onClose={onClose}
    />
  );
}

function DeleteEntry({ folder, entry, onClose, onChanged }: EntryDialogProps) {
  const api = useFileApi(folder.of.kind);
  const remove = async () => {
    await api.remove({ body: { path: entry.path } });
    await onChanged(`${entry.name} is deleted`);
  };
  return (
    <ConfirmByName
      title={`Delete ${entry.name}?`}
      name={entry.name}
      action={entry.isDirectory ? "Delete folder" : "Delete file"}
      onConfirm={remove}
      onClose={onClose}
    >
      {entry.isDirectory ? "This deletes the folder with everything in it." : "This deletes the file."} It cannot be undone.
    </ConfirmByName>
  );
}
