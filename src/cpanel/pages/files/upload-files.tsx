import { useEffect, useRef, useState } from "react";
import type { FileEntry } from "../../../shared/contract/files.js";
import { formatSize } from "../../../shared/size.js";
import { Button } from "../../components/button.js";
import { pluralize } from "../../components/pluralize.js";
import { ErrorMessage } from "../../components/error-message.js";
import { Modal } from "../../components/modal.js";
import { UploadProgress } from "../../components/upload-progress.js";
import { useMutation } from "../../components/use-mutation.js";
import { usePanel } from "../../use-panel.js";
import type { FileToSend } from "./dropped-files.js";
import type { Folder } from "./package-ref.js";
import { sendFiles } from "./send-files.js";

interface UploadFilesProps {
  readonly folder: Folder;
  readonly entries: readonly FileEntry[];
  readonly files: readonly FileToSend[];
  readonly onClose: () => void;
  /** Callback after the upload. Receives the change as text for the user, such as `2 files are uploaded`. */
  readonly onUploaded: (change: string) => Promise<void>;
}

/**
 * Dialog that lists the existing files that an upload replaces, then sends all files in one request. The request changes all files or none.
 */
export function UploadFiles({ folder, entries, files, onClose, onUploaded }: UploadFilesProps) {
  const { connection } = usePanel();
  const { isPending, error, run } = useMutation();
  const [sentBytes, setSentBytes] = useState(0);
  const end = useRef<AbortController>(undefined);
  useEffect(() => () => end.current?.abort(), []);
  const sizeBytes = files.reduce((sum, { file }) => sum + file.size, 0);
  const replaced = namesThere(files, entries);
  const send = async () => {
    const { signal } = (end.current = new AbortController());
    setSentBytes(0);
    const isDone = await run(async () => {
      await sendFiles(
        connection,
        folder,
        files.map(({ file, path }) => ({ file, filename: path })),
        { onSent: setSentBytes, signal },
      );
      await onUploaded(`${pluralize(files.length, "file")} ${files.length === 1 ? "is" : "are"} uploaded`);
    });
    if (isDone) onClose();
  };
  const wasCancelled = error !== undefined && end.current?.signal.aborted;
  return (
    <Modal title={`Upload ${pluralize(files.length, "file")}?`} onClose={onClose} isHeld={isPending}>
      <p>
        {files.length === 1 && `${files[0]?.path}: `}
        {formatSize(sizeBytes)} into <code>{folder.path}</code>.
      </p>
      {replaced.length > 0 && <p className="file-warning">Replaces existing files: {replaced.join(", ")}</p>}
      {wasCancelled && <p role="status">Cancelled. Nothing was changed.</p>}
      {error !== undefined && !wasCancelled && <ErrorMessage title="The upload failed" error={error} />}
      {isPending ? (
        <UploadProgress
          sentBytes={sentBytes}
          sizeBytes={sizeBytes}
          afterwards="The daemon installs it"
          onCancel={() => end.current?.abort()}
        />
      ) : (
        <div className="modal-buttons">
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="primary" autoFocus onPress={() => void send()}>
            Upload
          </Button>
        </div>
      )}
    </Modal>
  );
}

/** Describes the existing entries that the upload changes. In an existing folder, the upload replaces only files with the same name. */
function namesThere(files: readonly FileToSend[], entries: readonly FileEntry[]): readonly string[] {
  const coming = new Set(files.map(({ path }) => path.split("/", 1)[0]));
  return entries
    .filter(({ name }) => coming.has(name))
    .map(({ name, isDirectory }) => (isDirectory ? `files of the same name in ${name}/` : name));
}
