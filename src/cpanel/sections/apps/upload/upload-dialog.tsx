import { Button } from "../../../components/button.js";
import { ErrorNote } from "../../../components/error-note.js";
import { Modal } from "../../../components/modal.js";
import { UploadProgress } from "../../../components/upload-progress.js";
import { PanelLink } from "../../../routing/panel-link.js";
import { useServedAt } from "../../../live/use-served-at.js";
import { appUrl } from "../app-url.js";
import type { Offer } from "./offer.js";
import { ParcelPreview } from "./parcel-preview.js";
import { useUpload, type UploadState } from "./use-upload.js";

/** Shows what is in an archive or folder before a byte of it is sent, then how far it is, then where it answers. */
export function UploadDialog({ offer, onClose }: { offer: Offer; onClose: () => void }) {
  const { state, send, cancel } = useUpload(offer);
  const label = offer.kind === "archive" ? offer.file.name : offer.folder.name;
  return (
    <Modal title={titleOf(state, label)} onClose={onClose} isHeld={state.phase === "sending"}>
      {state.phase === "reading" && <p role="status">Reading what is in {label}…</p>}
      {state.phase === "unreadable" && (
        <>
          <ErrorNote title="It cannot be installed, and nothing was sent" error={state.error} />
          <Buttons onClose={onClose} />
        </>
      )}
      {state.phase === "ready" && <ParcelPreview state={state} onSend={send} onClose={onClose} />}
      {state.phase === "sending" && (
        <UploadProgress
          sentBytes={state.sentBytes}
          sizeBytes={state.parcel.file.size}
          afterwards="The daemon unpacks and checks it"
          onCancel={cancel}
        />
      )}
      {state.phase === "done" && <Done state={state} onClose={onClose} />}
    </Modal>
  );
}

function titleOf(state: UploadState, label: string): string {
  if (state.phase === "ready") return `Upload ${state.parcel.facts.name} ${state.parcel.facts.version}?`;
  if (state.phase === "sending") return `Uploading ${state.parcel.facts.name} ${state.parcel.facts.version}`;
  return state.phase === "done" ? `${state.name} ${state.version} is installed` : label;
}

function Done({ state: { name, version, app }, onClose }: { state: Extract<UploadState, { phase: "done" }>; onClose: () => void }) {
  const servedAt = useServedAt();
  const isOff = app?.versions.some((installed) => installed.version === version && !installed.enabled) ?? false;
  const isServing = !app || app.serving?.version === version;
  const url = appUrl(servedAt, name, isServing ? undefined : version);
  return (
    <>
      <div role="status">
        {isOff && <p>It is off, as its manifest says. Enable it on the page of the app.</p>}
        {!isOff && (
          <p>
            It answers at{" "}
            <a href={url} target="_blank" rel="noreferrer">
              {url}
            </a>
            .{!isServing && ` /${name}/ is still answered by ${app.serving?.version}.`}
          </p>
        )}
      </div>
      <div className="modal-buttons">
        <PanelLink to={`apps/${name}`} className="upload-to-app" onClick={onClose}>
          Show {name}
        </PanelLink>
        <Button kind="primary" onPress={onClose} autoFocus>
          Close
        </Button>
      </div>
    </>
  );
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
