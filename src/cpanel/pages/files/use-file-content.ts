import { useEffect, useState } from "react";
import type { FileKind } from "./file-operations.js";
import { readFile, type FileContent } from "./read-file.js";
import { useFileApi } from "./use-file-api.js";

interface LoadedFile {
  readonly content: FileContent | undefined;
  readonly error: unknown;
  readonly reload: () => void;
}

/** Reads a file once, when it is opened. Does not refresh the content, because the user can be editing it. */
export function useFileContent(kind: FileKind, path: string): LoadedFile {
  const api = useFileApi(kind);
  const [content, setContent] = useState<FileContent>();
  const [error, setError] = useState<unknown>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const end = new AbortController();
    setError(undefined);
    readFile(api, path, end.signal).then(
      (read) => !end.signal.aborted && setContent(read),
      (thrown: unknown) => !end.signal.aborted && setError(thrown),
    );
    return () => end.abort();
  }, [api, path, attempt]);
  const reload = () => {
    setContent(undefined);
    setAttempt(attempt + 1);
  };
  return { content, error, reload };
}
