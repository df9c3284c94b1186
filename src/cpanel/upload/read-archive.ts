import { ApiError } from "../../shared/api-error.js";
import { invalidArchive } from "../../shared/archive/refusal.js";
import type { ArchiveText } from "./archive-text.js";

/** Reads the entry names and metadata of an archive. Throws the error with which the daemon would reject the archive. */
export async function readArchive(file: File, signal: AbortSignal): Promise<ArchiveText> {
  const format = formatOf(file.name);
  try {
    if (format === "tar") {
      const { readTar } = await import("./read-tar.js");
      return await readTar(file, signal);
    }
    const { readZip } = await import("./read-zip.js");
    return await readZip(file);
  } catch (error) {
    if (signal.aborted || error instanceof ApiError) throw error;
    throw invalidArchive(`${file.name} is not a valid ${format === "tar" ? "gzipped tar" : "zip"}`, error);
  }
}

function formatOf(name: string): "tar" | "zip" {
  if (/\.(?:tgz|tar\.gz)$/i.test(name)) return "tar";
  if (/\.zip$/i.test(name)) return "zip";
  throw new ApiError("INVALID_FILE_TYPE", `${name} is not an archive. Choose a .tgz, .tar.gz or .zip file, or drop the folder itself.`);
}
