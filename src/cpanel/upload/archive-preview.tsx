import { formatSize } from "../../shared/size.js";
import { Button } from "../components/button.js";
import { pluralize } from "../components/pluralize.js";
import { ErrorMessage } from "../components/error-message.js";
import { ScrollRegion } from "../components/scroll-region.js";
import { usePrincipal } from "../session/use-principal.js";
import { refusalOf } from "./refusal-of.js";
import type { UploadTarget } from "./upload-target.js";
import type { UploadState } from "./use-upload.js";

/** Maximum number of excluded entries that are listed. */
const maxListed = 20;

interface ArchivePreviewProps<Known> {
  readonly target: UploadTarget<Known>;
  readonly state: Extract<UploadState<Known>, { phase: "ready" }>;
  readonly onSend: () => void;
  readonly onClose: () => void;
}

/** Shows the name, version and effect of a package before the upload, and whether the key is allowed to install the package. */
export function ArchivePreview<Known>({
  target,
  state: { packageArchive, known, error, wasCancelled },
  onSend,
  onClose,
}: ArchivePreviewProps<Known>) {
  const { facts, file, fileCount, excluded } = packageArchive;
  const refusal = refusalOf(facts, target, usePrincipal());
  return (
    <>
      <dl className="archive-facts">
        <dt>Name</dt>
        <dd>{facts.name}</dd>
        <dt>Version</dt>
        <dd>{facts.version}</dd>
        <dt>Contents</dt>
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
      {excluded.length > 0 && (
        <details className="archive-excluded">
          <summary>{excluded.length === 1 ? "1 entry" : `${excluded.length} entries`} excluded, as by runtimectl</summary>
          <ScrollRegion label="Excluded entries" className="archive-excluded-list">
            <ul>
              {excluded.slice(0, maxListed).map(({ path, rule }) => (
                <li key={path}>
                  <code>{path}</code> <span className="quiet small">{rule}</span>
                </li>
              ))}
              {excluded.length > maxListed && <li className="quiet">and {excluded.length - maxListed} more</li>}
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
