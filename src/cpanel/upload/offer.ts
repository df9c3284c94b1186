import { droppedFolder } from "./dropped-folder.js";
import type { Folder } from "./folder.js";

/** What somebody wants to upload. */
export type Offer = { readonly kind: "archive"; readonly file: File } | { readonly kind: "folder"; readonly folder: Folder };

/** What was dropped; undefined when it is no file, or more than one thing. Must be called while the event lasts. */
export function offerIn(transfer: DataTransfer): Offer | undefined {
  const items = [...transfer.items].filter(({ kind }) => kind === "file");
  const [item] = items;
  if (!item || items.length > 1) return undefined;
  const entry = item.webkitGetAsEntry();
  if (entry?.isDirectory) return { kind: "folder", folder: droppedFolder(entry as FileSystemDirectoryEntry) };
  const file = item.getAsFile();
  return file ? { kind: "archive", file } : undefined;
}
