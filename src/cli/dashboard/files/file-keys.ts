import { fileActions } from "../actions/files.js";
import { fileLine, type FileItem, type FolderLocation } from "./file-location.js";
import { downloadTransfer, uploadTransfer, readText, localFiles } from "./file-transfers.js";
import { useActions } from "../actions/use-actions.js";
import { useChanges } from "../queries/hooks.js";
import { useDashboard, useSession } from "../session/hooks.js";
import { useKeyScope, usePerforming } from "../keyboard/key-dispatcher.js";
import path from "node:path";
import type { FileEntry } from "../../../shared/contract/files.js";
import { reasonOf } from "../session/session.js";
import { hereFolder } from "../palette/complete-path.js";

/** Registers the shortcuts for the selected file or folder. */
export function useFileKeys(item: FileItem): void {
  const { overlays, copy } = useDashboard();
  const session = useSession();
  const performing = usePerforming();
  const { kind, entry } = item;
  const actions = fileActions(kind);
  useActions([actions.delete], item, fileLine(kind, "ls", entry.path));
  const rename = () =>
    overlays.show({
      kind: "prompt",
      prompt: {
        label: `new name of ${entry.name}:`,
        initial: entry.name,
        hint: "enter renames · esc cancels",
        onSubmit: (to) => performing(actions.rename, { ...item, to }),
      },
    });
  const move = () =>
    overlays.show({
      kind: "prompt",
      prompt: {
        label: `move ${entry.name} to:`,
        initial: entry.path,
        hint: "an existing folder or a new path · esc cancels",
        onSubmit: (to) => performing(actions.move, { ...item, to }),
      },
    });
  const save = () =>
    overlays.show({
      kind: "prompt",
      prompt: {
        label: "save as:",
        initial: `./${entry.name}${entry.isDirectory ? ".zip" : ""}`,
        hint: "a new local file · tab completes · esc cancels",
        completesFiles: true,
        onSubmit: (target) => overlays.show({ kind: "transfer", transfer: downloadTransfer(session, item, target) }),
      },
    });
  const copyPath = () => {
    copy(entry.path);
    overlays.say("done", `${entry.path} copied, if the terminal allows clipboard access`);
  };
  useChanges({ "files.rename": rename, "files.move": move }, `${kind}:install`, [fileLine(kind, "mv", entry.path, `${entry.path}-2`)]);
  useKeyScope({ handlers: { "files.download": save, copy: copyPath }, lines: [fileLine(kind, "get", entry.path)] });
}

/** Registers the shortcuts for the current folder. */
export function useFolderKeys(location: FolderLocation, entries: readonly FileEntry[]): void {
  const { overlays, context } = useDashboard();
  const session = useSession();
  const performing = usePerforming();
  const { kind, path: folder } = location;
  const makeFolder = () =>
    overlays.show({
      kind: "prompt",
      prompt: {
        label: `new folder in ${folder}:`,
        initial: "",
        hint: "a name or a relative path · esc cancels",
        onSubmit: (name) => performing(fileActions(kind).makeFolder, { ...location, name }),
      },
    });
  const send = async (source: string) => {
    try {
      const files = await localFiles(path.resolve(context.workingDirectory, source));
      const replaced = entries.filter(({ name }) => files.some((file) => file.name.split("/")[0] === name));
      const profile = session.settings.isProduction ? session.settings.profile?.value : undefined;
      const consequence = `Overwrite ${replaced.map(({ name }) => name).join(", ")} in ${folder}`;
      if (replaced.length > 0 && !(await overlays.ask({ consequence, name: profile, isProduction: profile !== undefined })))
        return overlays.say("note", "nothing changed");
      overlays.show({ kind: "transfer", transfer: uploadTransfer(session, location, files) });
    } catch (error) {
      overlays.say("failed", reasonOf(error));
    }
  };
  const upload = () =>
    overlays.show({
      kind: "prompt",
      prompt: {
        label: `file or folder to upload to ${folder}:`,
        initial: hereFolder,
        hint: "tab completes · enter uploads · esc cancels",
        completesFiles: true,
        onSubmit: (source) => void send(source),
      },
    });
  useChanges({ "files.upload": upload, "files.makeFolder": makeFolder }, `${kind}:install`, [
    fileLine(kind, "put", "./file", folder),
    fileLine(kind, "mkdir", `${folder}/new`),
  ]);
}

/** Returns a function that shows a text file. If the file cannot be shown, the function shows the reason. */
export function useOpenFile(): (item: FileItem) => void {
  const { overlays } = useDashboard();
  const session = useSession();
  const show = async (item: FileItem) => {
    overlays.say("note", `reading ${item.entry.name} …`);
    try {
      const lines = await readText(session, item);
      overlays.say("done", `${item.entry.path} loaded`);
      // Keeps an overlay that the user opened while the file was loading.
      if (overlays.state().overlay === undefined) overlays.show({ kind: "lines", title: item.entry.path, lines });
    } catch (error) {
      overlays.say("failed", reasonOf(error));
    }
  };
  return (item) => void show(item);
}
