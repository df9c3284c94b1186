/** The files that were dropped; undefined when a folder is among them. Must be called while the event lasts. */
export function droppedFiles(transfer: DataTransfer): readonly File[] | undefined {
  const hasFolder = [...transfer.items].some((item) => item.webkitGetAsEntry()?.isDirectory);
  return hasFolder ? undefined : [...transfer.files];
}
