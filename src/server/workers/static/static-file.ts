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
  readonly marks: FileMarks;
  /** The headers that a client needs to ask again: name, value, name, value … */
  readonly validatorPairs: readonly string[];
  /** The same as lines of the wire. */
  readonly validatorLines: string;
}

/** What a site says of a file beyond its content. */
export interface FileMarks {
  /** Lower-case names and values, in place of ours where both have one. */
  readonly headers: readonly (readonly [string, string])[];
  /** It never changes under this name. */
  readonly isImmutable: boolean;
}

/** Reads a file that lies below `root` (a real path), links included; "directory" when it is one, undefined when nothing may be served. */
export async function readStaticFile(
  { root, generation, marksOf }: { root: string; generation: string; marksOf: (relative: string) => FileMarks },
  file: string,
): Promise<StaticFile | "directory" | undefined> {
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
    const type = contentType(path.extname(real)) || "application/octet-stream";
    const facts = { realPath: real, modifiedMs: stats.mtimeMs, type, marks: marksOf(path.relative(root, real)) };
    return withValidators({ ...facts, body, sizeBytes: body?.length ?? stats.size, etag: etagOf(mark) });
  } finally {
    await handle.close();
  }
}

/** The same file with other bytes. */
export function withBody(file: StaticFile, body: Buffer): StaticFile {
  return withValidators({ ...file, body, sizeBytes: body.length, etag: etagOf(body) });
}

function withValidators(file: Omit<StaticFile, "validatorPairs" | "validatorLines">): StaticFile {
  const headers = [
    ...new Map([
      ["etag", file.etag],
      ["last-modified", new Date(file.modifiedMs).toUTCString()],
      ["accept-ranges", "bytes"],
      // Always asked again: an upload must be seen at once.
      ["cache-control", file.marks.isImmutable ? "public, max-age=31536000, immutable" : "no-cache"],
      ["x-content-type-options", "nosniff"],
      ...file.marks.headers,
    ]),
  ];
  return { ...file, validatorPairs: headers.flat(), validatorLines: headers.map(([name, value]) => `${name}: ${value}\r\n`).join("") };
}

function etagOf(content: Buffer | string): string {
  return `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
}
