import type { Socket } from "node:net";
import { ApiError } from "../../../shared/api-error.js";
import type { UploadProgress, UploadedFile } from "../../platform/uploaded-file.js";
import { spawnProcess, type SpawnedProcess } from "../../platform/spawner/spawner.js";
import { standard } from "../../platform/spawner/messages.js";
import { compiledFile } from "../../package-root.js";
import type { ArchiveLimits } from "./archive-entry.js";
import { archiveIsWhole, type UnpackJob, type UnpackResult } from "./unpack-job.js";
import type { ArchiveFormat } from "./unpack.js";
import type { PackageMetadata } from "../../../shared/package-metadata.js";
import { insufficientStorage } from "../../platform/storage-full.js";
import { lowerPriority } from "../../platform/process-priority.js";

const childHeapMegabytes = 128;
const unpackDeadlineMs = 300_000;
/**
 * Maximum number of unpacker processes at the same time. Each process occupies one CPU core, so more processes would slow down requests.
 */
const unpackingAtOnce = 2;
/** Niceness of unpacker processes. While the CPU is busy, an unpacker receives a tenth of the daemon's CPU share. */
const unpackingNiceness = 10;
const longestResponseBytes = 4 * 1024 * 1024;

export interface UnpackedPackage {
  /** Path of the package root, relative to the folder with the unpacked files. Empty if both are the same folder. */
  readonly root: string;
  readonly metadata: PackageMetadata;
}

/**
 * Returns the archive format for the extension `.tgz`, `.tar.gz` or `.zip` in upper or lower case. Throws INVALID_FILE_TYPE for another
 * extension.
 */
export function archiveFormat(fileName: string): ArchiveFormat {
  if (/\.(?:tgz|tar\.gz)$/i.test(fileName)) return "tar";
  if (/\.zip$/i.test(fileName)) return "zip";
  throw new ApiError("INVALID_FILE_TYPE", "The file is not an archive that can be installed. Send a .tgz, .tar.gz or .zip file.");
}

/**
 * Unpacks archives in separate processes, at most two at a time. An archive bomb or an archive with 10,000 files therefore does not delay
 * requests.
 */
export class ArchiveUnpacker {
  readonly #limits: ArchiveLimits;
  readonly #children = new Set<SpawnedProcess>();
  readonly #waiting: (() => void)[] = [];
  #freeSlots = unpackingAtOnce;
  #isClosed = false;

  constructor(limits: ArchiveLimits) {
    this.#limits = limits;
  }

  /**
   * Unpacks an archive into an empty folder, syncs the files and deletes the archive. Starts before the upload is complete. After an error,
   * the folder is incomplete and no process writes to it.
   */
  async unpack({ path, progress }: UploadedFile, format: ArchiveFormat, folder: string): Promise<UnpackedPackage> {
    // If only one unpacker is free, waits until the archive is uploaded completely, because the upload of a slow client would occupy the
    // unpacker for a long time.
    if (this.#freeSlots < 2) await progress?.whole;
    await this.#takeSlot();
    try {
      return readResponse(await this.#runChild({ archivePath: path, format, folder, limits: this.#limits }, progress));
    } finally {
      this.#freeSlot();
    }
  }

  /** Kills all running unpacker processes. */
  close(): void {
    this.#isClosed = true;
    for (const child of this.#children) child.kill();
  }

  async #takeSlot(): Promise<void> {
    if (this.#freeSlots > 0) this.#freeSlots -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #freeSlot(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#freeSlots += 1;
  }

  async #runChild(job: UnpackJob, progress: UploadProgress | undefined): Promise<ChildEnd> {
    const program = compiledFile("server/packages/archive/main.js");
    const child = await spawnProcess({
      file: process.execPath,
      args: [`--max-old-space-size=${childHeapMegabytes}`, program, JSON.stringify(job)],
      workingDirectory: "/",
      descriptors: Object.values(standard),
    });
    lowerPriority(child.pid, unpackingNiceness);
    this.#children.add(child);
    if (this.#isClosed) child.kill();
    const ended = collectEnd(child).finally(() => this.#children.delete(child));
    try {
      await sendProgress(child, progress);
    } catch (error) {
      child.kill();
      await ended;
      throw error;
    }
    let tookTooLong = false;
    const deadline = setTimeout(() => {
      tookTooLong = true;
      child.kill();
    }, unpackDeadlineMs);
    return { ...(await ended.finally(() => clearTimeout(deadline))), tookTooLong };
  }
}

interface ChildEnd {
  readonly answer: string;
  readonly complaint: string;
  readonly exit: string;
  readonly tookTooLong: boolean;
}

/** Sends the number of received bytes to the unpacker until the archive is complete. */
async function sendProgress({ sockets }: SpawnedProcess, progress: UploadProgress | undefined): Promise<void> {
  const stdin = sockets.get(standard.input) as Socket;
  const writeLine = (line: string | number) => void (stdin.writable && stdin.write(`${line}\n`));
  progress?.follow(writeLine);
  await progress?.whole;
  writeLine(archiveIsWhole);
}

async function collectEnd({ sockets, closed }: SpawnedProcess): Promise<Omit<ChildEnd, "tookTooLong">> {
  let answer = "";
  let complaint = "";
  sockets
    .get(standard.output)
    ?.setEncoding("utf8")
    .on("data", (text: string) => {
      if (answer.length < longestResponseBytes) answer += text;
    });
  sockets
    .get(standard.errors)
    ?.setEncoding("utf8")
    .on("data", (text: string) => {
      complaint = (complaint + text).slice(0, 2000);
    });
  sockets.get(standard.input)?.resume();
  const { status, signal } = await closed;
  return { answer, complaint, exit: signal ?? String(status) };
}

function readResponse(end: ChildEnd): UnpackedPackage {
  if (end.tookTooLong) {
    throw new ApiError(
      "ARCHIVE_TOO_LARGE",
      `The archive is too large: it could not be unpacked within ${unpackDeadlineMs / 60_000} minutes.`,
    );
  }
  if (!end.answer.endsWith("\n")) throw new Error(`unpacking ended with ${end.exit}: ${end.complaint}`);
  const result = JSON.parse(end.answer) as UnpackResult;
  if ("refusal" in result) throw new ApiError(result.refusal.code, result.refusal.message);
  if ("failure" in result) {
    const cause = new Error(result.failure.reason);
    throw result.failure.code === "INSUFFICIENT_STORAGE" ? insufficientStorage(cause) : cause;
  }
  return result;
}
