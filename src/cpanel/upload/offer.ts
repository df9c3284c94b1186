import { droppedFolder } from "./dropped-folder.js";
import type { Folder } from "./folder.js";

/** The archive or folder that the user selected for upload. */
export type Offer = { readonly kind: "archive"; readonly file: File } | { readonly kind: "folder"; readonly folder: Folder };

/**
 * Returns the dropped archive or folder. Undefined if the user drops several items or an item that is not a file. Works only during the
 * drop event.
 */
export function offerIn(transfer: DataTransfer): Offer | undefined {
  const items = [...transfer.items].filter(({ kind }) => kind === "file");
  const [item] = items;
  if (!item || items.length > 1) return undefined;
  const entry = item.webkitGetAsEntry();
  if (entry?.isDirectory) return { kind: "folder", folder: droppedFolder(entry as FileSystemDirectoryEntry) };
  const file = item.getAsFile();
  return file ? { kind: "archive", file } : undefined;
}
