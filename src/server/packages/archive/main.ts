// The unpacker process. Unpacks one archive, reads the metadata of the package, writes one line of JSON to stdout and ends. If an archive
// exploits an error of a parser, the daemon is not affected.
import { rm } from "node:fs/promises";
import path from "node:path";
import { ApiError } from "../../../shared/api-error.js";
import type { PackageMetadata } from "../../../shared/package-metadata.js";
import { endProcess } from "../../platform/end-process.js";
import { isStorageFull } from "../../platform/storage-full.js";
import { ReceivedBytes, type UnpackJob, type UnpackResult } from "./unpack-job.js";
import { TreeWriter } from "./folder-writer.js";
import { unpack } from "./unpack.js";

// Ends when stdin closes, because the daemon has then exited and no process needs the result.
process.stdin.on("close", endProcess);
// Sets the umask, so that the mode of unpacked files is the same for every umask of the daemon.
process.umask(0o022);

const received = ReceivedBytes.readFrom(process.stdin);
const result = await run(JSON.parse(process.argv[2] as string) as UnpackJob);
process.stdout.write(`${JSON.stringify(result)}\n`, endProcess);

async function run(job: UnpackJob): Promise<UnpackResult> {
  try {
    // Changes to the target folder and uses relative paths, for which the kernel has to look up fewer folders.
    process.chdir(job.folder);
    const writer = new TreeWriter(".");
    const root = await unpack({ ...job, received, writer });
    // Deletes the archive before the sync. The kernel then does not have to write the archive to the disk.
    await rm(job.archivePath, { force: true });
    const [metadata] = await Promise.all([readMetadata(path.join(job.folder, root)), writer.sync()]);
    if (metadata) return { root, metadata };
    return {
      refusal: {
        code: "MISSING_PACKAGE_NAME",
        message: "The archive has neither manifest.yaml nor package.json at its root or in package/. Add one of them with a name.",
      },
    };
  } catch (error) {
    if (error instanceof ApiError) return { refusal: { code: error.code, message: error.message } };
    if (isStorageFull(error)) return { failure: { code: "INSUFFICIENT_STORAGE", reason: String(error) } };
    return { failure: { code: "INTERNAL_ERROR", reason: error instanceof Error ? (error.stack ?? error.message) : String(error) } };
  }
}

/** Reads the metadata of the package. Loads the YAML parser at this point, because the sync of the files runs at the same time. */
async function readMetadata(folder: string): Promise<PackageMetadata | undefined> {
  const { readPackageMetadata } = await import("../package-metadata.js");
  return readPackageMetadata(folder);
}
