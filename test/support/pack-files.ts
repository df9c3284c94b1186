import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { create } from "tar";

/** Packs the given files (path → content) as tar.gz, with the given folder before each path. */
export async function packFiles(files: Readonly<Record<string, string | Uint8Array>>, prefix = "package"): Promise<Buffer> {
  const directory = await mkdtemp(path.join(tmpdir(), "pack-files-"));
  try {
    for (const [name, content] of Object.entries(files)) {
      const file = path.join(directory, "files", prefix, name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, content);
    }
    const archive = path.join(directory, "archive.tgz");
    await create({ gzip: true, file: archive, cwd: path.join(directory, "files") }, [prefix === "" ? "." : prefix]);
    return await readFile(archive);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Returns the text of a minimal manifest. */
export function manifestOf(name: string, version: string, more = ""): string {
  return `name: ${JSON.stringify(name)}\nversion: ${JSON.stringify(version)}\n${more}`;
}
