import { readFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect, uploadOf } from "../support/connect.js";
import { gzippedZeros } from "../support/build-archive-bomb.js";
import { buildTgz, tarEnd, tarEntry } from "../support/build-tar.js";
import { buildZip } from "../support/build-zip.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { settledDigest } from "../support/settled-digest.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

const gigabyte = 1024 ** 3;
const mostExtraKilobytes = 100 * 1024;
const manifest = { name: "package/manifest.yaml", content: manifestOf("victim", "1.0.0") };

let daemon: TestDaemon;
let before: string;
let peakBefore: number;

beforeAll(async () => {
  daemon = await startDaemon();
  const archive = await packFiles({ "manifest.yaml": manifestOf("victim", "1.0.0"), "index.html": "unharmed" });
  await connect(daemon.url, daemon.rootKey).workers.upload({ file: uploadOf("victim.tgz", archive) });
  before = await settledDigest(path.join(daemon.directory, "workers"));
  peakBefore = await peakKilobytes();
});

afterAll(async () => {
  await daemon.dispose();
});

/** Returns the peak memory of the daemon's process. */
async function peakKilobytes(): Promise<number> {
  const status = await readFile(`/proc/${daemon.process.pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]);
}

function twentyGigabytesOfZeros(): Promise<Buffer> {
  const size = Buffer.alloc(12);
  size.writeBigUInt64BE(BigInt(20 * gigabyte), 4);
  size[0] = 0x80;
  return gzippedZeros(Buffer.concat([tarEntry(manifest), tarEntry({ name: "package/zeros", rawSize: size })]), 20 * gigabyte);
}

function manyEntries(count: number): Buffer {
  const entries = Array.from({ length: count }, (_, index) => tarEntry({ name: `package/files/${index}` }));
  return gzipSync(Buffer.concat([tarEntry(manifest), ...entries, tarEnd]), { level: 1 });
}

const hostile: readonly { what: string; filename: string; code: string; build: () => Buffer | Promise<Buffer> }[] = [
  { what: "20 GB of zeros in 20 MB", filename: "bomb.tgz", code: "ARCHIVE_TOO_LARGE", build: twentyGigabytesOfZeros },
  { what: "300,000 entries", filename: "bomb.tgz", code: "ARCHIVE_TOO_LARGE", build: () => manyEntries(300_000) },
  {
    what: "a tar entry with ..",
    filename: "a.tgz",
    code: "PATH_TRAVERSAL",
    build: () => buildTgz(manifest, { name: "package/../../evil" }),
  },
  { what: "a zip entry with ..", filename: "a.zip", code: "PATH_TRAVERSAL", build: () => buildZip([manifest, { name: "../evil" }]) },
  { what: "an absolute entry", filename: "a.tgz", code: "PATH_TRAVERSAL", build: () => buildTgz(manifest, { name: "/tmp/evil" }) },
  {
    what: "an entry with .. and backslashes",
    filename: "a.zip",
    code: "PATH_TRAVERSAL",
    build: () => buildZip([manifest, { name: "..\\..\\evil" }]),
  },
  {
    what: "a link to outside",
    filename: "a.tgz",
    code: "PATH_TRAVERSAL",
    build: () => buildTgz(manifest, { name: "package/link", type: "2", linkTarget: "/etc/passwd" }),
  },
  {
    what: "a link within the package",
    filename: "a.tgz",
    code: "UNSUPPORTED_ENTRY",
    build: () => buildTgz(manifest, { name: "package/link", type: "2", linkTarget: "manifest.yaml" }),
  },
  { what: "a device", filename: "a.tgz", code: "UNSUPPORTED_ENTRY", build: () => buildTgz(manifest, { name: "package/null", type: "3" }) },
  {
    what: "a name with ..",
    filename: "a.tgz",
    code: "INVALID_PACKAGE_NAME",
    build: () => buildTgz({ name: "manifest.yaml", content: "name: ../victim" }),
  },
  {
    what: "a reserved name",
    filename: "a.tgz",
    code: "INVALID_PACKAGE_NAME",
    build: () => buildTgz({ name: "manifest.yaml", content: "name: api" }),
  },
  {
    what: "the version ..",
    filename: "a.tgz",
    code: "INVALID_PACKAGE_VERSION",
    build: () => buildTgz({ name: "manifest.yaml", content: "name: victim\nversion: ../1.0.0" }),
  },
  { what: "a truncated archive", filename: "a.tgz", code: "INVALID_ARCHIVE", build: () => buildTgz(manifest).subarray(0, 60) },
  { what: "an empty archive", filename: "a.tgz", code: "INVALID_ARCHIVE", build: () => gzipSync(tarEnd) },
  { what: "a zip named .tgz", filename: "a.tgz", code: "INVALID_ARCHIVE", build: () => buildZip([manifest]) },
  {
    what: "two names that differ only in case",
    filename: "a.tgz",
    code: "INVALID_ARCHIVE",
    build: () => buildTgz(manifest, { name: "package/A" }, { name: "package/a" }),
  },
  {
    what: "a duplicate name",
    filename: "a.tgz",
    code: "INVALID_ARCHIVE",
    build: () => buildTgz(manifest, { name: "package/a" }, { name: "package/a" }),
  },
  { what: "a file that is not a supported archive", filename: "a.rar", code: "INVALID_FILE_TYPE", build: () => Buffer.from("Rar!") },
];

test.for(hostile)(
  "an upload of $what is rejected and changes nothing (code: $code)",
  { timeout: 180_000 },
  async ({ filename, code, build }) => {
    const client = connect(daemon.url, daemon.rootKey);
    await expect(client.workers.upload({ file: uploadOf(filename, await build()) })).rejects.toMatchObject({ code });
    expect(await settledDigest(path.join(daemon.directory, "workers"))).toBe(before);
    expect(await (await fetch(`${daemon.url}/victim/`)).text()).toBe("unharmed");
    expect((await peakKilobytes()) - peakBefore).toBeLessThan(mostExtraKilobytes);
  },
);
