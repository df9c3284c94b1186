import { fileActions } from "../actions/files.js";
import { fileLine } from "../file-line.js";
import type { FileItem } from "../file-place.js";
import { downloadTransfer } from "../file-transfers.js";
import { useActions } from "./use-actions.js";
import { useChanges } from "./use-changes.js";
import { useDashboard } from "./use-dashboard.js";
import { useKeyScope } from "./use-key-scope.js";
import { usePerforming } from "./use-performing.js";
import { useSession } from "./use-session.js";

/** What keys do to the entry that is selected. */
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
        hint: "enter renames it · esc leaves it as it is",
        onSubmit: (to) => performing(actions.rename, { ...item, to }),
      },
    });
  const move = () =>
    overlays.show({
      kind: "prompt",
      prompt: {
        label: `move ${entry.name} to:`,
        initial: entry.path,
        hint: "a folder that is there, or a new path · esc leaves it where it is",
        onSubmit: (to) => performing(actions.move, { ...item, to }),
      },
    });
  const save = () =>
    overlays.show({
      kind: "prompt",
      prompt: {
        label: "save as:",
        initial: `./${entry.name}${entry.isDirectory ? ".zip" : ""}`,
        hint: "a new file of this machine; tab completes · esc leaves",
        completesFiles: true,
        onSubmit: (target) => overlays.show({ kind: "transfer", transfer: downloadTransfer(session, item, target) }),
      },
    });
  const copyPath = () => {
    copy(entry.path);
    overlays.say("done", `${entry.path} is in the clipboard, if the terminal allows that`);
  };
  useChanges({ "files.rename": rename, "files.move": move }, `${kind}:install`, [fileLine(kind, "mv", entry.path, `${entry.path}-2`)]);
  useKeyScope({ handlers: { "files.download": save, copy: copyPath }, lines: [fileLine(kind, "get", entry.path)] });
}
