import { readText } from "../file-transfers.js";
import type { FileItem } from "../file-place.js";
import { reasonOf } from "../reason-of.js";
import { useDashboard } from "./use-dashboard.js";
import { useSession } from "./use-session.js";

/** Shows a text file; of what is none it says why not. */
export function useOpenFile(): (item: FileItem) => void {
  const { overlays } = useDashboard();
  const session = useSession();
  const show = async (item: FileItem) => {
    overlays.say("note", `reading ${item.entry.name} …`);
    try {
      const lines = await readText(session, item);
      overlays.say("done", `${item.entry.path} as it is now`);
      // Whoever does something else meanwhile is not disturbed.
      if (overlays.state().overlay === undefined) overlays.show({ kind: "lines", title: item.entry.path, lines });
    } catch (error) {
      overlays.say("failed", reasonOf(error));
    }
  };
  return (item) => void show(item);
}
