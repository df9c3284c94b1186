import { droppedFolder } from "./dropped-folder.js";
import type { Folder } from "./folder.js";

/** The upload that the user selected. */
export type Offer = { readonly kind: "archive"; readonly file: File } | { readonly kind: "folder"; readonly folder: Folder };

/** Returns the dropped file or folder. Undefined for several items, and for items that are not files. Must be called during the event. */
export function offerIn(transfer: DataTransfer): Offer | undefined {
  const items = [...transfer.items].filter(({ kind }) => kind === "file");
  const [item] = items;
  if (!item || items.length > 1) return undefined;
  const entry = item.webkitGetAsEntry();
  if (entry?.isDirectory) return { kind: "folder", folder: droppedFolder(entry as FileSystemDirectoryEntry) };
  const file = item.getAsFile();
  return file ? { kind: "archive", file } : undefined;
}
