import { useState } from "react";
import { ApiError } from "../../../shared/api-error.js";
import { useMutation } from "../../components/use-mutation.js";
import { usePanel } from "../../use-panel.js";
import type { Folder } from "./package-ref.js";
import type { FileApi } from "./file-operations.js";
import { toBytesText } from "./file-text.js";
import { readFile, type FileContent } from "./read-file.js";
import { sendFiles } from "./send-files.js";
import { useFileApi } from "./use-file-api.js";
import { usePackageCheck, type Failed } from "./use-package-check.js";

/** An ETag that matches no file. */
const noTag = '"none"';

/** How another client changed the edited file since the panel read it. */
export type EditConflict = "changed" | "deleted";

/** A text file with the content and the ETag that the panel read. */
export type OpenedFile = Extract<FileContent, { kind: "text" }>;

/** A package that the daemon stopped serving after a save of one of its files. */
export interface Broken extends Failed {
  /** Text of the file before the save, to which the user can revert. */
  readonly before: string;
}

interface Save {
  /** The text that the panel last read from the daemon or wrote to it. */
  readonly saved: string;
  /** Conflict that stopped the last save until the user decides. Undefined without a conflict. */
  readonly changedMeanwhile: EditConflict | undefined;
  readonly isPending: boolean;
  readonly error: unknown;
  /** Failure of the package after the last save. Undefined while the daemon serves the package. */
  readonly broken: Broken | undefined;
  /** Saves the text if no other client has changed the file since the panel read or saved it. `isOverwriting` skips this check. */
  readonly save: (text: string, isOverwriting?: boolean) => Promise<void>;
  /** Cancels a save that waits for a decision about a conflict. */
  readonly forget: () => void;
}

/** Provides the state of an edited text file, and a function that saves the file. */
export function useSave(folder: Folder, name: string, opened: OpenedFile): Save {
  const api = useFileApi(folder.of.kind);
  const { connection, toasts } = usePanel();
  const { isPending, error, run } = useMutation();
  const [saved, setSaved] = useState({ text: opened.text.text, etag: opened.etag });
  const { failed, check, reset } = usePackageCheck(folder);
  const [before, setBefore] = useState("");
  const [changedMeanwhile, setChangedMeanwhile] = useState<EditConflict>();
  const path = `${folder.path}/${name}`;
  const save = async (text: string, isOverwriting = false) => {
    await run(async () => {
      reset();
      toasts.dismissAbout(path);
      const written = toBytesText({ ...opened.text, text });
      const etags = isOverwriting || saved.etag === undefined ? {} : { etags: [saved.etag] };
      const ending = { onSent: () => undefined, signal: new AbortController().signal };
      try {
        await sendFiles(connection, folder, [{ file: new Blob([written]), filename: name }], { ...etags, ...ending });
      } catch (refusal) {
        if (!isCode(refusal, "PRECONDITION_FAILED")) throw refusal;
        return setChangedMeanwhile(await editConflict(api, path));
      }
      setSaved({ text, etag: await etagOfWritten(api, path, written) });
      setBefore(saved.text);
      const served = await check(`${name} is saved`);
      // If the daemon no longer lists the version, the page of the app can close. The message therefore contains the button that reverts
      // the save.
      const undo = { label: "Undo the save", run: () => void save(saved.text, true) };
      if (served?.isGone) toasts.say(`${name} is saved, and ${served.text}.`, { tone: "danger", subject: path, action: undo });
    });
  };
  const broken = failed && { ...failed, before };
  return { saved: saved.text, changedMeanwhile, isPending, error, broken, save, forget: () => setChangedMeanwhile(undefined) };
}

async function editConflict(api: FileApi, path: string): Promise<EditConflict> {
  try {
    await readFile(api, path, new AbortController().signal);
    return "changed";
  } catch (error) {
    if (isCode(error, "PATH_NOT_FOUND")) return "deleted";
    throw error;
  }
}

/**
 * Returns the ETag of the saved file. Returns `noTag` if another client has changed the file after the save, so that the next save reports
 * a conflict.
 */
async function etagOfWritten(api: FileApi, path: string, written: string): Promise<string | undefined> {
  const now = await readFile(api, path, new AbortController().signal).catch(() => undefined);
  const isOurs = now?.kind === "text" && toBytesText(now.text) === written;
  return isOurs ? now.etag : noTag;
}

function isCode(error: unknown, code: ApiError["code"]): boolean {
  return error instanceof ApiError && error.code === code;
}
