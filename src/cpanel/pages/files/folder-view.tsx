import { useState } from "react";
import { FileTrigger } from "react-aria-components/FileTrigger";
import { Button } from "../../components/button.js";
import { DataTable } from "../../components/data-table.js";
import { DropOverlay } from "../../components/drop-overlay.js";
import { ResourceList } from "../../components/resource-list.js";
import { EmptyState } from "../../components/empty-state.js";
import { useResource } from "../../live/use-resource.js";
import { useMay } from "../../session/use-principal.js";
import { usePanel } from "../../use-panel.js";
import { FailedNote } from "./failed-note.js";
import type { Folder } from "./package-ref.js";
import { droppedFiles, type FileToSend } from "./dropped-files.js";
import { entryColumns } from "./entry-columns.js";
import { FolderDialog, type FolderQuestion } from "./folder-dialog.js";
import { useDownloadUrl } from "./use-download-url.js";
import { useFileApi } from "./use-file-api.js";
import { usePackageCheck } from "./use-package-check.js";
import "../../components/row-actions.css";

/** Shows the entries of a folder, with actions on the folder and on each entry. */
export function FolderView({ folder }: { folder: Folder }) {
  const { kind } = folder.of;
  const { path, isChangeable } = folder;
  const api = useFileApi(kind);
  const downloadUrl = useDownloadUrl(kind);
  const isWanted = useMay(`${kind}:read`);
  const [change, remove] = [useMay(`${kind}:install`) && isChangeable, useMay(`${kind}:remove`) && isChangeable];
  const resource = useResource(`files.${kind}.${path}`, async () => (await api.list({ query: { path } })).data, { isWanted });
  const { failed, check } = usePackageCheck(folder);
  const [question, setQuestion] = useState<FolderQuestion>();
  const entries = resource.data?.entries ?? [];
  const columns = entryColumns({ folder, may: { change, remove }, downloadUrl, onAsk: (action, entry) => setQuestion({ action, entry }) });
  const upload = (files: readonly FileToSend[]) => files.length > 0 && setQuestion({ action: "upload", files });
  return (
    <>
      <div className="folder-bar">
        {change && <Button onPress={() => setQuestion({ action: "make" })}>New folder</Button>}
        {change && (
          <FileTrigger allowsMultiple onSelect={(files) => upload([...(files ?? [])].map((file) => ({ file, path: file.name })))}>
            <Button kind="primary">Upload files</Button>
          </FileTrigger>
        )}
        <a className="row-link" href={downloadUrl(path)} download>
          Download all as zip
        </a>
      </div>
      {failed && <FailedNote of={folder.of} failed={failed} />}
      <ResourceList
        noun="file"
        permission={`${kind}:read`}
        resource={resource}
        total={entries.length}
        rows={entries}
        onClearFilters={() => undefined}
        empty={
          <EmptyState title="This folder is empty">
            {change && "Drop files or folders here, or choose them by the button above."}
          </EmptyState>
        }
      >
        {(rows) => <DataTable caption={`Files in ${path}`} columns={columns} rows={rows} keyOf={(entry) => entry.path} isStacked />}
      </ResourceList>
      {resource.data?.hasMore && <p className="quiet folder-note">The folder has more entries than this list shows.</p>}
      <WhyNot folder={folder} mayChange={change || remove} />
      <Drops mayUpload={change} isBusy={question !== undefined} path={path} onFiles={upload} />
      {question && (
        <FolderDialog
          folder={folder}
          entries={entries}
          question={question}
          onClose={() => setQuestion(undefined)}
          onChanged={async (done) => {
            await resource.refresh();
            void check(done);
          }}
        />
      )}
    </>
  );
}

interface DropsProps {
  readonly mayUpload: boolean;
  readonly isBusy: boolean;
  readonly path: string;
  readonly onFiles: (files: readonly FileToSend[]) => void;
}

function Drops({ mayUpload, isBusy, path, onFiles }: DropsProps) {
  const { toasts } = usePanel();
  const refuse = (text: string) => toasts.say(text, { tone: "danger" });
  const take = async (transfer: DataTransfer) => {
    if (isBusy) return;
    if (!mayUpload) return refuse(`Nothing can be uploaded into ${path} with this key.`);
    try {
      const files = await droppedFiles(transfer);
      if (files.length === 0) refuse("The dropped folder contains no files.");
      else onFiles(files);
    } catch (error) {
      refuse(error instanceof Error ? error.message : "The dropped files could not be read.");
    }
  };
  return (
    <DropOverlay onDrop={(transfer) => void take(transfer)}>
      {mayUpload ? `Drop files or folders to upload them into ${path}` : "Nothing can be uploaded here"}
    </DropOverlay>
  );
}

function WhyNot({ folder: { of, isChangeable }, mayChange }: { folder: Folder; mayChange: boolean }) {
  if (mayChange) return null;
  if (isChangeable) return <p className="quiet folder-note">This key is read-only.</p>;
  if (of.isBuiltIn) return <p className="quiet folder-note">This package is part of the daemon. It cannot be changed.</p>;
  return of.kind === "workers" && <p className="quiet folder-note">Open a version to change its files.</p>;
}
