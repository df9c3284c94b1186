import { useState } from "react";
import { ApiError } from "../../shared/api-error.js";
import { useAttempt } from "../components/use-attempt.js";
import { usePanel } from "../use-panel.js";
import type { Folder } from "./browsed-package.js";
import type { FileApi } from "./file-operations.js";
import { toBytesText, type FileText } from "./file-text.js";
import { readFile } from "./read-file.js";
import { sendFiles } from "./send-files.js";
import { useFileApi } from "./use-file-api.js";

/** What somebody else did to a file since it was read. */
export type ForeignChange = "changed" | "deleted";

interface Save {
  /** The text as the daemon has it, as far as is known here. */
  readonly saved: string;
  /** Why the last save waits for a word. */
  readonly changedMeanwhile: ForeignChange | undefined;
  readonly isPending: boolean;
  readonly error: unknown;
  /** Looks first whether the file is as it was read, unless it is to be overwritten whatever it is now. */
  readonly save: (text: string, isOverwriting?: boolean) => Promise<void>;
  /** The question is answered: nothing is saved. */
  readonly forget: () => void;
}

/** The way of a text back into its file. */
export function useSave(folder: Folder, name: string, opened: FileText): Save {
  const api = useFileApi(folder.of.kind);
  const { connection, toasts } = usePanel();
  const { isPending, error, run } = useAttempt();
  const [saved, setSaved] = useState(opened.text);
  const [changedMeanwhile, setChangedMeanwhile] = useState<ForeignChange>();
  const save = async (text: string, isOverwriting = false) => {
    await run(async () => {
      const foreign = isOverwriting ? undefined : await changeOf(api, `${folder.path}/${name}`, { ...opened, text: saved });
      setChangedMeanwhile(foreign);
      if (foreign) return;
      const file = new Blob([toBytesText({ ...opened, text })]);
      await sendFiles(connection, folder, [{ file, filename: name }], {
        onSent: () => undefined,
        signal: new AbortController().signal,
      });
      setSaved(text);
      toasts.say(`${name} is saved, and served as it is now.`);
    });
  };
  return { saved, changedMeanwhile, isPending, error, save, forget: () => setChangedMeanwhile(undefined) };
}

/** By its text, which says more than its time: that has whole seconds. */
async function changeOf(api: FileApi, path: string, known: FileText): Promise<ForeignChange | undefined> {
  try {
    const now = await readFile(api, path, new AbortController().signal);
    return now.kind === "text" && isSame(now.text, known) ? undefined : "changed";
  } catch (error) {
    if (error instanceof ApiError && error.code === "PATH_NOT_FOUND") return "deleted";
    throw error;
  }
}

function isSame(one: FileText, other: FileText): boolean {
  return one.isFaithful === other.isFaithful && toBytesText(one) === toBytesText(other);
}
