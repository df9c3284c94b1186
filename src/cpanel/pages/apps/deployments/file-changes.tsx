import { useEffect, useState } from "react";
import { formatSize } from "../../../../shared/size.js";
import { Button } from "../../../components/button.js";
import { EmptyState } from "../../../components/empty-state.js";
import { ErrorMessage } from "../../../components/error-message.js";
import { LoadingRows } from "../../../components/loading-rows.js";
import { pluralize } from "../../../components/pluralize.js";
import { useFileApi } from "../../files/use-file-api.js";
import { compareVersions, mostCompared, type ChangedFile, type VersionComparison } from "./compare-versions.js";
import { TextChanges } from "./text-changes.js";

interface FileChangesProps {
  /** Version folders in the API, such as `workers/shop/1.0.0`. */
  readonly before: string;
  readonly after: string;
}

const signs = { added: "+", removed: "−", changed: "~" } as const;

/** Shows the files that differ between two versions. When the user opens a file, compares both texts of the file line by line. */
export function FileChanges({ before, after }: FileChangesProps) {
  const { comparison, error, again } = useComparison(before, after);
  if (error !== undefined)
    return (
      <ErrorMessage title="The versions could not be compared" error={error}>
        <Button onPress={again}>Try again</Button>
      </ErrorMessage>
    );
  if (!comparison) return <LoadingRows noun="file" />;
  const { files, equal, unread, isPartial } = comparison;
  return (
    <div className="file-changes">
      {files.length === 0 ? (
        <EmptyState title={unread === 0 && !isPartial ? "All files are equal" : "No difference found"} />
      ) : (
        <ul aria-label="Different files">
          {files.map((file) => (
            <li key={file.path}>
              <FileChange file={file} before={before} after={after} />
            </li>
          ))}
        </ul>
      )}
      <p className="quiet small">
        {pluralize(equal, "file")} equal.
        {unread > 0 && ` ${pluralize(unread, "file")} of equal size not compared, because they are not text, too large or too many.`}
        {isPartial && ` Only the first ${mostCompared} files of a version are compared.`} Files in node_modules are not compared.
      </p>
    </div>
  );
}

function FileChange({ file: { path, kind, sizeBefore, sizeAfter }, before, after }: FileChangesProps & { readonly file: ChangedFile }) {
  const [isOpen, setOpen] = useState(false);
  const sizes = [sizeBefore, sizeAfter].filter((size) => size !== undefined).map((size) => formatSize(size));
  return (
    <details className="file-change" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className={`file-change-${kind}`}>
          <span aria-hidden="true">{signs[kind]}</span> {kind}
        </span>{" "}
        <code>{path}</code> <span className="quiet small">{sizes.join(" → ")}</span>
      </summary>
      {isOpen && (
        <TextChanges
          before={kind === "added" ? undefined : `${before}/${path}`}
          after={kind === "removed" ? undefined : `${after}/${path}`}
          name={path}
        />
      )}
    </details>
  );
}

function useComparison(before: string, after: string) {
  const api = useFileApi("workers");
  const [comparison, setComparison] = useState<VersionComparison>();
  const [error, setError] = useState<unknown>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const end = new AbortController();
    setComparison(undefined);
    setError(undefined);
    compareVersions(api, before, after, end.signal).then(
      (found) => !end.signal.aborted && setComparison(found),
      (thrown: unknown) => !end.signal.aborted && setError(thrown),
    );
    return () => end.abort();
  }, [api, before, after, attempt]);
  return { comparison, error, again: () => setAttempt(attempt + 1) };
}
