import path from "node:path";
import type { FileEntry } from "../../../shared/contract/files.js";
import { fileActions } from "../actions/files.js";
import { fileLine } from "../file-line.js";
import type { FilePlace } from "../file-place.js";
import { uploadTransfer } from "../file-transfers.js";
import { localFiles } from "../local-files.js";
import { reasonOf } from "../reason-of.js";
import { hereFolder } from "../typed-path.js";
import { useChanges } from "./use-changes.js";
import { useDashboard } from "./use-dashboard.js";
import { usePerforming } from "./use-performing.js";
import { useSession } from "./use-session.js";

/** What keys do in a folder, whatever is selected. */
export function useFolderKeys(place: FilePlace, entries: readonly FileEntry[]): void {
  const { overlays, context } = useDashboard();
  const session = useSession();
  const performing = usePerforming();
  const { kind, path: folder } = place;
  const makeFolder = () =>
    overlays.show({
      kind: "prompt",
      prompt: {
        label: `new folder in ${folder}:`,
        initial: "",
        hint: "its name, or a path below · esc leaves",
        onSubmit: (name) => performing(fileActions(kind).makeFolder, { ...place, name }),
      },
    });
  const send = async (source: string) => {
    try {
      const files = await localFiles(path.resolve(context.workingDirectory, source));
      const replaced = entries.filter(({ name }) => files.some((file) => file.name.split("/")[0] === name));
      const profile = session.settings.isProduction ? session.settings.profile?.value : undefined;
      const consequence = `Write over what is there of ${replaced.map(({ name }) => name).join(", ")} in ${folder}`;
      if (replaced.length > 0 && !(await overlays.ask({ consequence, name: profile, isProduction: profile !== undefined })))
        return overlays.say("note", "nothing was changed");
      overlays.show({ kind: "transfer", transfer: uploadTransfer(session, place, files) });
    } catch (error) {
      overlays.say("failed", reasonOf(error));
    }
  };
  const upload = () =>
    overlays.show({
      kind: "prompt",
      prompt: {
        label: `file or folder to put into ${folder}:`,
        initial: hereFolder,
        hint: "tab completes · enter sends it · esc leaves",
        completesFiles: true,
        onSubmit: (source) => void send(source),
      },
    });
  useChanges({ "files.upload": upload, "files.makeFolder": makeFolder }, `${kind}:install`, [
    fileLine(kind, "put", "./file", folder),
    fileLine(kind, "mkdir", `${folder}/new`),
  ]);
}
