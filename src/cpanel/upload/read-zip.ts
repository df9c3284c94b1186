import { unzipSync } from "fflate";
import { ArchiveListing, isMetadata, type ArchiveText } from "./archive-text.js";

/** Reads the central directory and the metadata files of a zip archive. Unpacks no other files. */
export async function readZip(file: Blob): Promise<ArchiveText> {
  const listing = new ArchiveListing();
  const unpacked = unzipSync(new Uint8Array(await file.arrayBuffer()), {
    filter: ({ name, originalSize }) => {
      const isFolder = name.endsWith("/");
      listing.add(name, isFolder ? "directory" : "file");
      return !isFolder && isMetadata(name, originalSize);
    },
  });
  for (const [name, bytes] of Object.entries(unpacked)) listing.addText(name, new TextDecoder().decode(bytes));
  return listing.toText("zip");
}
