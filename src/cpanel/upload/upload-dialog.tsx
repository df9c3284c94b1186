import { Button } from "../components/button.js";
import { ErrorMessage } from "../components/error-message.js";
import { Modal } from "../components/modal.js";
import { UploadProgress } from "../components/upload-progress.js";
import type { Offer } from "./offer.js";
import { ArchivePreview } from "./archive-preview.js";
import type { UploadTarget } from "./upload-target.js";
import { useUpload, type UploadState } from "./use-upload.js";

interface UploadDialogProps<Known> {
  readonly target: UploadTarget<Known>;
  readonly offer: Offer;
  readonly onClose: () => void;
}

/** Shows a preview of an archive or folder before the upload, then the progress and the result of the upload. */
export function UploadDialog<Known>({ target, offer, onClose }: UploadDialogProps<Known>) {
  const { state, send, cancel } = useUpload(target, offer);
  const label = offer.kind === "archive" ? offer.file.name : offer.folder.name;
  return (
    <Modal title={titleOf(state, label)} onClose={onClose} isHeld={state.phase === "sending"}>
      {state.phase === "reading" && <p role="status">Reading what is in {label}…</p>}
      {state.phase === "unreadable" && (
        <>
          <ErrorMessage title="The package is invalid, and nothing was sent" error={state.error} />
          <Buttons onClose={onClose} />
        </>
      )}
      {state.phase === "ready" && <ArchivePreview target={target} state={state} onSend={send} onClose={onClose} />}
      {state.phase === "sending" && (
        <UploadProgress
          sentBytes={state.sentBytes}
          sizeBytes={state.packageArchive.file.size}
          afterwards="The daemon unpacks and checks it"
          onCancel={cancel}
        />
      )}
      {state.phase === "done" && <target.Done name={state.name} version={state.version} known={state.known} onClose={onClose} />}
    </Modal>
  );
}

function titleOf(state: UploadState<unknown>, label: string): string {
  if (state.phase === "ready") return `Upload ${state.packageArchive.facts.name} ${state.packageArchive.facts.version}?`;
  if (state.phase === "sending") return `Uploading ${state.packageArchive.facts.name} ${state.packageArchive.facts.version}`;
  return state.phase === "done" ? `${state.name} ${state.version} is installed` : label;
}

function Buttons({ onClose }: { onClose: () => void }) {
  return (
    <div className="modal-buttons">
      <Button onPress={onClose} autoFocus>
        Close
      </Button>
    </div>
  );
}
