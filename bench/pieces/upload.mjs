import { createReadStream } from "node:fs";
import { mkdir, rm, stat, writeFile } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import http from "node:http";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { startDaemon } from "../support/daemon.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { alternate } from "../support/rounds.mjs";
import { durationRow } from "../support/rows.mjs";

export const name = "upload";

const fileCount = 10_000;
const archiveMegabytes = 60;
const megabyte = 1024 * 1024;

export async function run(stage) {
  const directory = await stage.temporaryDirectory();
  const archive = await makeArchive(stage, directory);
  const daemon = await startDaemon(stage, { directory: path.join(directory, "home") });
  const target = path.join(directory, "unpacked");
  // Before each measurement nothing of the last one is there, nothing is left to be written to the disk, and the archive is in the page cache.
  const prepare = async () => {
    await rm(target, { recursive: true, force: true });
    await fetch(`${daemon.url}/api/workers/_/big`, { method: "DELETE", headers: daemon.headers });
    await stage.run("sync", []);
    await mkdir(target);
  };
  const sides = {
    ours: () => uploadAndAsk(daemon, archive),
    tar: () => stage.run("tar", ["xzf", archive, "-C", target]),
    tarAndSync: () => stage.run("sh", ["-c", `tar xzf "$1" -C "$2" && sync -f "$2"`, "sh", archive, target]),
  };
  await prepare();
  await sides.ours();
  const figures = await alternate(
    stage.settings.rounds,
    Object.fromEntries(
      Object.entries(sides).map(([side, action]) => [
        side,
        async () => {
          await prepare();
          return await timeMs(action);
        },
      ]),
    ),
  );
  const megabytes = Math.round((await stat(archive)).size / megabyte);
  const work = `upload of ${megabytes} MB, ${fileCount.toLocaleString("en-US")} files, until the first answer`;
  const note =
    "Same disk, archive in the page cache, nothing left to be written from before. The upload's answer comes after everything is synced to the disk; plain tar leaves that to the kernel, the second row lets it sync too.";
  return [
    durationRow({ work, against: "tar xzf", target: { atMost: 1.5 }, note }, figures.ours, figures.tar),
    durationRow({ work, against: "tar xzf && sync -f", note }, figures.ours, figures.tarAndSync),
  ];
}

/** Text of 64 signs without pattern: compresses to three quarters, so that unpacking has its work. */
async function makeArchive(stage, directory) {
  const source = path.join(directory, "source");
  const bytesPerFile = Math.round((archiveMegabytes * megabyte) / 0.76 / fileCount);
  for (let index = 0; index < fileCount; index += 1) {
    const folder = path.join(source, `part-${index % 100}`);
    if (index < 100) await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, `file-${index}.txt`), randomBytes(Math.round(bytesPerFile * 0.75)).toString("base64url"));
  }
  await writeFile(path.join(source, "index.js"), `export default { fetch: () => new Response("ok") };`);
  await writeFile(path.join(source, "manifest.yaml"), JSON.stringify({ name: "big", version: "1.0.0" }));
  const archive = path.join(directory, "big.tgz");
  await stage.run("tar", ["czf", archive, "-C", source, "."]);
  await rm(source, { recursive: true });
  return archive;
}

async function uploadAndAsk(daemon, archive) {
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
  await expectAnswer(`${daemon.url}/big/`, { text: "ok" });
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
