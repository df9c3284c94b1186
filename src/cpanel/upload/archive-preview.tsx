import { formatSize } from "../../shared/size.js";
import { Button } from "../components/button.js";
import { pluralize } from "../components/pluralize.js";
import { ErrorMessage } from "../components/error-message.js";
import { ScrollRegion } from "../components/scroll-region.js";
import { usePrincipal } from "../session/use-principal.js";
import { refusalOf } from "./refusal-of.js";
import type { UploadTarget } from "./upload-target.js";
import type { UploadState } from "./use-upload.js";

/** Of what is left out, so many are named. */
const mostNamed = 20;

interface ArchivePreviewProps<Known> {
  readonly target: UploadTarget<Known>;
  readonly state: Extract<UploadState<Known>, { phase: "ready" }>;
  readonly onSend: () => void;
  readonly onClose: () => void;
}

/** Name, version, what it does to what is installed, and whether the key may. */
export function ArchivePreview<Known>({
  target,
  state: { packageArchive, known, error, wasCancelled },
  onSend,
  onClose,
}: ArchivePreviewProps<Known>) {
  const { facts, file, fileCount, leftOut } = packageArchive;
  const refusal = refusalOf(facts, target, usePrincipal());
  return (
    <>
      <dl className="archive-facts">
        <dt>Name</dt>
        <dd>{facts.name}</dd>
        <dt>Version</dt>
        <dd>{facts.version}</dd>
        <dt>Holds</dt>
        <dd>
          {pluralize(fileCount, "file")}, {formatSize(file.size)} packed
        </dd>
        <dt>Installs</dt>
        <dd>{target.effectOf(facts, known)}</dd>
      </dl>
      {target.notesOf(facts).map((note) => (
        <p key={note} className="archive-note">
          {note}
        </p>
      ))}
      {leftOut.length > 0 && (
        <details className="archive-left-out">
          <summary>{pluralize(leftOut.length, "entry").replace("entrys", "entries")} left out, as runtimectl would</summary>
          <ScrollRegion label="What is left out" className="archive-left-out-list">
            <ul>
              {leftOut.slice(0, mostNamed).map(({ path, rule }) => (
                <li key={path}>
                  <code>{path}</code> <span className="quiet small">{rule}</span>
                </li>
              ))}
              {leftOut.length > mostNamed && <li className="quiet">and {leftOut.length - mostNamed} more</li>}
            </ul>
          </ScrollRegion>
        </details>
      )}
      {refusal !== undefined && (
        <p role="alert" className="archive-refusal">
          {refusal}
        </p>
      )}
      {wasCancelled && <p role="status">The upload was cancelled. Nothing was installed.</p>}
      {error !== undefined && <ErrorMessage title="The upload failed, and nothing was installed" error={error} />}
      <div className="modal-buttons">
        <Button onPress={onClose}>Cancel</Button>
        <Button kind="primary" onPress={onSend} isDisabled={refusal !== undefined} autoFocus>
          {error === undefined ? "Upload" : "Try again"}
        </Button>
      </div>
    </>
  );
}
