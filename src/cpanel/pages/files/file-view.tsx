import { formatSize } from "../../../shared/size.js";
import { Button } from "../../components/button.js";
import { ErrorMessage } from "../../components/error-message.js";
import { LoadingRows } from "../../components/loading-rows.js";
import { EmptyState } from "../../components/empty-state.js";
import { useMay } from "../../session/use-principal.js";
import { CodeEditor } from "../../editor/code-editor.js";
import type { Folder } from "./package-ref.js";
import { TextEditor } from "./text-editor.js";
import { useDownloadUrl } from "./use-download-url.js";
import { useFileContent } from "./use-file-content.js";
import "../../components/row-actions.css";

/** Shows a text file, editable or read-only. For other files, shows the reason why the text is not displayed. */
export function FileView({ folder, name }: { folder: Folder; name: string }) {
  const { kind } = folder.of;
  const path = `${folder.path}/${name}`;
  const mayChange = useMay(`${kind}:install`) && folder.isChangeable;
  const { content, error, reload } = useFileContent(kind, path);
  const url = useDownloadUrl(kind)(path);
  const download = (
    <a className="row-link" href={url} download>
      Download
    </a>
  );
  if (error !== undefined)
    return (
      <ErrorMessage title={`${name} could not be read`} error={error}>
        <Button onPress={reload}>Try again</Button>
      </ErrorMessage>
    );
  if (!content) return <LoadingRows noun="line" />;
  if (content.kind === "binary")
    return (
      <EmptyState title={`${name} is not text`} action={download}>
        It has {formatSize(content.sizeBytes)} of binary data. Download it to look at it.
      </EmptyState>
    );
  if (content.kind === "large")
    return (
      <EmptyState title={`${name} is too large to show`} action={download}>
        Text is shown up to {formatSize(content.mostBytes)}. Download it, and upload it again once it is changed.
      </EmptyState>
    );
  if (mayChange && content.text.isFaithful)
    return <TextEditor folder={folder} name={name} opened={content} download={download} onReload={reload} />;
  return (
    <>
      <div className="folder-bar">{download}</div>
      <CodeEditor fileName={name} label={`Text of ${name}`} text={content.text.text} />
      {mayChange && (
        <p className="quiet folder-note">The file has mixed line endings, which the editor would change. It is read-only here.</p>
      )}
    </>
  );
}
