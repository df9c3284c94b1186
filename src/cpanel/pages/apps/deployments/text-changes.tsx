import { useEffect, useMemo, useState } from "react";
import { formatSize } from "../../../../shared/size.js";
import { ErrorMessage } from "../../../components/error-message.js";
import { ScrollRegion } from "../../../components/scroll-region.js";
import { readFile, type FileContent } from "../../files/read-file.js";
import { useFileApi } from "../../files/use-file-api.js";
import { diffParts, mostDifferences, type DiffLine } from "./line-diff.js";

interface TextChangesProps {
  /** Paths of the file in both versions. Undefined where the file does not exist. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly name: string;
}

const signs = { same: " ", added: "+", removed: "−" } as const;
const empty = { kind: "text", text: { text: "" } } as const;
type Side = FileContent | typeof empty;

/** Shows the lines that differ between two versions of a file. */
export function TextChanges({ before, after, name }: TextChangesProps) {
  const api = useFileApi("workers");
  const [sides, setSides] = useState<readonly [Side, Side]>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    const end = new AbortController();
    const read = (path: string | undefined): Promise<Side> =>
      path === undefined ? Promise.resolve(empty) : readFile(api, path, end.signal);
    Promise.all([read(before), read(after)]).then(
      (found) => !end.signal.aborted && setSides(found),
      (thrown: unknown) => !end.signal.aborted && setError(thrown),
    );
    return () => end.abort();
  }, [api, before, after]);
  if (error !== undefined) return <ErrorMessage title={`${name} could not be read`} error={error} />;
  if (!sides) return <p className="quiet">Loading…</p>;
  return <Sides sides={sides} name={name} />;
}

function Sides({ sides: [before, after], name }: { sides: readonly [Side, Side]; name: string }) {
  const parts = useMemo(
    () => (before.kind === "text" && after.kind === "text" ? diffParts(before.text.text, after.text.text) : undefined),
    [before, after],
  );
  const large = [before, after].find((side) => side.kind === "large");
  if (large) return <p className="quiet">Files above {formatSize(large.mostBytes)} are not compared.</p>;
  if (before.kind !== "text" || after.kind !== "text") return <p className="quiet">{name} is not text.</p>;
  if (!parts) return <p className="quiet">More than {mostDifferences.toLocaleString("en-GB")} lines differ, so they are not shown.</p>;
  if (parts.length === 0) return <p className="quiet">Only line endings or the byte order mark differ.</p>;
  return (
    <ScrollRegion label={`Differences of ${name}`} className="diff">
      {parts.map((lines) => (
        <table key={lineKey(lines[0])} className="diff-part">
          <tbody>
            {lines.map((line) => (
              <tr key={lineKey(line)} className={`diff-${line.kind}`}>
                <td className="diff-number">{line.before}</td>
                <td className="diff-number">{line.after}</td>
                <td>
                  <span className="visually-hidden">{line.kind === "same" ? "" : `${line.kind}: `}</span>
                  <span aria-hidden="true">{signs[line.kind]} </span>
                  {line.text}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      ))}
    </ScrollRegion>
  );
}

function lineKey(line: DiffLine | undefined): string {
  return `${line?.before ?? ""}:${line?.after ?? ""}`;
}
