import { createReadStream } from "node:fs";
import { mkdir, stat, statfs, writeFile } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import http from "node:http";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { startDaemon } from "../support/daemon.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { alternate } from "../support/rounds.mjs";
import { durationRow, unavailableRow } from "../support/rows.mjs";

export const name = "upload";

const fileCount = 10_000;
const archiveMegabytes = 60;
const megabyte = 1024 * 1024;
const memoryFolder = "/dev/shm";
const touchMemory = fileURLToPath(new URL("../support/touch-memory.mjs", import.meta.url));
/** Memory in megabytes that `touch-memory.mjs` uses and frees before a measurement. More than each side needs. */
const memoryAtHandMegabytes = 1024;
/** Memory for all rounds, because no file is deleted between the rounds. */
const memoryNeeded = 4096 * megabyte;

export async function run(stage) {
  const onDisk = await Place.open(stage, await stage.temporaryDirectory());
  const inMemory = await placeInMemory(stage);
  const big = await BigPackage.make(stage, await stage.temporaryDirectory());
  const plain = `tar xzf "$1" -C "$2"`;
  const sides = {
    ours: () => onDisk.upload(big),
    tar: () => onDisk.unpack(big, plain),
    tarAndSync: () => onDisk.unpack(big, `${plain} && sync -f "$2"`),
    ...(inMemory && { oursInMemory: () => inMemory.upload(big), tarInMemory: () => inMemory.unpack(big, plain) }),
  };
  await big.pack(0);
  await onDisk.upload(big);
  await inMemory?.upload(big);
  const measure = (side) => async (round) => {
    await big.pack(round + 1);
    await stage.run("sync", []);
    await stage.run(process.execPath, [touchMemory, String(memoryAtHandMegabytes)]);
    return await side();
  };
  const measures = Object.fromEntries(Object.entries(sides).map(([key, side]) => [key, measure(side)]));
  const figures = await alternate(stage.settings.rounds, measures);
  const megabytes = Math.round((await stat(big.archive)).size / megabyte);
  const work = `upload of ${megabytes} MB, ${fileCount.toLocaleString("en-US")} files, until the first answer`;
  const workInMemory = `${work}, in memory`;
  const note =
    "Same disk, archive in the page cache, free memory at hand, nothing left to be written from before, nothing deleted since the start. The upload's answer comes after everything is synced to the disk; plain tar leaves that to the kernel, the second row lets it sync too.";
  const noteInMemory = "Both on a tmpfs, where a sync has nothing to do: what an upload takes besides the disk.";
  return [
    durationRow({ work, against: "tar xzf", target: { atMost: 1.5 }, note }, figures.ours, figures.tar),
    durationRow({ work, against: "tar xzf && sync -f", note }, figures.ours, figures.tarAndSync),
    inMemory
      ? durationRow({ work: workInMemory, against: "tar xzf", note: noteInMemory }, figures.oursInMemory, figures.tarInMemory)
      : unavailableRow(workInMemory, "tar xzf", `There is no ${memoryFolder} with ${memoryNeeded / megabyte} MB free.`),
  ];
}

/**
 * A folder with its own daemon. Every round unpacks to a new folder, and nothing is deleted before the end: after deletions, ext4 without
 * a journal creates files ten times slower for minutes, which would distort the next measurement.
 */
class Place {
  #unpackedCount = 0;

  static async open(stage, directory) {
    return new Place(stage, directory, await startDaemon(stage, { directory: path.join(directory, "home") }));
  }

  constructor(stage, directory, daemon) {
    Object.assign(this, { stage, directory, daemon });
  }

  /** Returns the time in milliseconds until the uploaded version responds. */
  async upload({ archive, version }) {
    return await timeMs(() => uploadAndAsk(this.daemon, archive, version));
  }

  /** Returns the time in milliseconds of a command that unpacks the archive "$1" to the folder "$2". */
  async unpack({ archive }, command) {
    this.#unpackedCount += 1;
    const target = path.join(this.directory, `unpacked-${this.#unpackedCount}`);
    await mkdir(target);
    return await timeMs(() => this.stage.run("sh", ["-c", command, "sh", archive, target]));
  }
}

async function placeInMemory(stage) {
  const free = await statfs(memoryFolder).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return free < memoryNeeded ? undefined : await Place.open(stage, await stage.temporaryDirectory(memoryFolder));
}

/**
 * A package whose worker responds with its version. The random text compresses to three quarters of its size, so that unpacking takes
 * measurable time.
 */
class BigPackage {
  version;

  static async make(stage, directory) {
    const source = path.join(directory, "source");
    const bytesPerFile = Math.round((archiveMegabytes * megabyte) / 0.76 / fileCount);
    for (let index = 0; index < fileCount; index += 1) {
      const folder = path.join(source, `part-${index % 100}`);
      if (index < 100) await mkdir(folder, { recursive: true });
      await writeFile(path.join(folder, `file-${index}.txt`), randomBytes(Math.round(bytesPerFile * 0.75)).toString("base64url"));
    }
    return new BigPackage(stage, source, path.join(directory, "big.tgz"));
  }

  constructor(stage, source, archive) {
    Object.assign(this, { stage, source, archive });
  }

  /** Packs the package with the version of a round. Both sides of the round unpack the same archive. */
  async pack(round) {
    const version = `1.0.${round}`;
    if (this.version === version) return;
    this.version = version;
    await writeFile(path.join(this.source, "index.js"), `export default { fetch: () => new Response("${version}") };`);
    await writeFile(path.join(this.source, "manifest.yaml"), JSON.stringify({ name: "big", version }));
    await this.stage.run("tar", ["czf", this.archive, "-C", this.source, "."]);
  }
}

async function uploadAndAsk(daemon, archive, version) {
  const boundary = "----bench";
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="big.tgz"\r\ncontent-type: application/gzip\r\n\r\n`;
  const tail = `\r\n--${boundary}--\r\n`;
  const { size } = await stat(archive);
  const request = http.request(`${daemon.url}/api/workers/upload`, {
    method: "POST",
    headers: {
      ...daemon.headers,
      "content-type": `multipart/form-data; boundary=${boundary}`,
      "content-length": head.length + size + tail.length,
    },
  });
  const answered = answerOf(request);
  request.write(head);
  await pipeline(createReadStream(archive, { highWaterMark: megabyte }), request, { end: false });
  request.end(tail);
  const { status, text } = await answered;
  if (status !== 201) throw new Error(`the upload was answered with ${status}: ${text}`);
  await expectAnswer(`${daemon.url}/big/`, { text: version });
}

function answerOf(request) {
  return new Promise((resolve, reject) => {
    request.once("error", reject);
    request.once("response", (response) => {
      let text = "";
      response.on("data", (chunk) => (text += chunk));
      response.once("end", () => resolve({ status: response.statusCode, text }));
    });
  });
}

async function timeMs(action) {
  const startedAtMs = performance.now();
  await action();
  return performance.now() - startedAtMs;
}
