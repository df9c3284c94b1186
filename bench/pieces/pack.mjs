import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { alternate } from "../support/rounds.mjs";
import { durationRow } from "../support/rows.mjs";

export const name = "packing";

const program = fileURLToPath(new URL("../../bin/runtimectl.js", import.meta.url));
const fileCount = 10_000;
const bytesPerFile = 5_000;
const megabyte = 1024 * 1024;

/** Measures the whole command from start to exit. The baseline is tar with gzip on the same files. */
export async function run(stage) {
  const directory = await stage.temporaryDirectory();
  const folder = path.join(directory, "app");
  await writeFolder(folder);
  const ours = path.join(directory, "ours.tgz");
  const theirs = path.join(directory, "theirs.tgz");
  let expected;
  const pack = async () => {
    const tookMs = timeMs(process.execPath, [program, "pack", folder, "--out", ours], { RUNTIMECTL_CONFIG_DIR: directory });
    const sha256 = createHash("sha256")
      .update(await readFile(ours))
      .digest("hex");
    expected ??= sha256;
    if (sha256 !== expected) throw new Error(`the archive's SHA-256 was ${expected}, and is now ${sha256}`);
    await rm(ours);
    return tookMs;
  };
  const tar = async () => timeMs("tar", ["czf", theirs, "-C", folder, "."]);
  await pack();
  await tar();
  const figures = await alternate(Math.max(3, stage.settings.rounds), { ours: pack, theirs: tar });
  const megabytes = ((await stat(theirs)).size / megabyte).toFixed(0);
  return [
    durationRow(
      {
        work: `runtimectl pack of ${fileCount.toLocaleString("en-US")} files, ${megabytes} MB packed`,
        against: "tar czf",
        target: { atMost: 1.2 },
        note: "The whole command, start of Node included; gzip's level is 6 on both sides, and every archive had the same bytes.",
      },
      figures.ours,
      figures.theirs,
    ),
  ];
}

/**
 * Writes files with random texts of 64 characters between words. They compress to about half of their size; source code compresses to less.
 */
async function writeFolder(folder) {
  await mkdir(folder);
  await writeFile(path.join(folder, "manifest.yaml"), "name: big\nversion: 1.0.0\n");
  await writeFile(path.join(folder, "index.js"), 'export default { fetch: () => new Response("big") };\n');
  for (let index = 0; index < fileCount; index += 1) {
    const part = path.join(folder, `part-${index % 100}`);
    if (index < 100) await mkdir(part);
    const line = () => `const value${index} = "${randomBytes(24).toString("base64url")}";\n`;
    let text = "";
    while (text.length < bytesPerFile) text += line();
    await writeFile(path.join(part, `file-${index}.js`), text);
  }
}

/** Runs the command synchronously, because the event loop would add time between the exit of the command and the measurement. */
function timeMs(command, args, env = {}) {
  const startedAtMs = performance.now();
  const { status, stderr } = spawnSync(command, args, { env: { PATH: process.env.PATH, ...env }, encoding: "utf8", timeout: 120_000 });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}: ${stderr}`);
  return performance.now() - startedAtMs;
}
