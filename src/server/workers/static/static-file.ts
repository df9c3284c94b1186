import { createHash } from "node:crypto";
import { open, realpath } from "node:fs/promises";
import path from "node:path";
import { contentType } from "mime-types";

/** Larger files are streamed from the disk. */
const inMemoryBytes = 256 * 1024;

/** A file of a site as it is sent: its bytes when it is small, and the headers that describe it. */
export interface StaticFile {
  readonly realPath: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  readonly etag: string;
  readonly type: string;
  readonly body: Buffer | undefined;
}

/** Reads a file that lies below `root` (a real path), links included; "directory" when it is one, undefined when nothing may be served. */
export async function readStaticFile(root: string, file: string, generation: string): Promise<StaticFile | "directory" | undefined> {
  const real = await realpath(file).catch(() => undefined);
  if (real === undefined || (real !== root && !real.startsWith(root + path.sep))) return undefined;
  const isHidden = path
    .relative(root, real)
    .split(path.sep)
    .some((segment) => segment.startsWith("."));
  if (isHidden) return undefined;
  const handle = await open(real, "r").catch(() => undefined);
  if (!handle) return undefined;
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) return "directory";
    if (!stats.isFile()) return undefined;
    const body = stats.size <= inMemoryBytes ? await handle.readFile() : undefined;
    // Archives carry the same modification time for years: small files are told apart by content, large ones by generation.
    const mark = body ?? `${generation} ${stats.size} ${stats.mtimeMs}`;
    return {
      realPath: real,
      sizeBytes: body?.length ?? stats.size,
      modifiedMs: stats.mtimeMs,
      etag: etagOf(mark),
      type: contentType(path.extname(real)) || "application/octet-stream",
      body,
    };
  } finally {
    await handle.close();
  }
}

export function etagOf(content: Buffer | string): string {
  return `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
}
