import { randomBytes } from "node:crypto";
import { mkdir, readdir } from "node:fs/promises";
import path from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { commandOf, spawnedBy } from "../../support/child-processes.js";
import { openConnection, type RawConnection } from "../../support/exchange.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { createSender, expectRefusal } from "../../support/send.js";
import { settledDigest } from "../../support/settled-digest.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";

const megabyte = 1024 * 1024;
const maxUploadSizeBytes = 8 * megabyte;
const end = "\r\n--B--\r\n";
const open: RawConnection[] = [];

let daemon: TestDaemon;
let send: ReturnType<typeof createSender>;
let emptyWorkers: string;

beforeAll(async () => {
  daemon = await startDaemon({ env: { RUNTIME_MAX_UPLOAD_SIZE: String(maxUploadSizeBytes) } });
  send = createSender(daemon.url);
  await mkdir(workers(), { recursive: true });
  emptyWorkers = await settledDigest(workers());
});

afterEach(async () => {
  for (const { socket } of open.splice(0)) socket.destroy();
  await expect.poll(unpackingProcesses).toEqual([]);
  await expect.poll(() => readdir(path.join(daemon.directory, "state", "spool"))).toEqual([]);
  expect(await settledDigest(workers())).toBe(emptyWorkers);
  expect(daemon.process.exitCode).toBeNull();
});

afterAll(async () => {
  await send.close();
  await daemon.dispose();
});

const workers = () => path.join(daemon.directory, "workers");

/** Contains random bytes, because compressed data could be smaller than the steps in which a large file is reported and read. */
const bigPackage = (name: string) =>
  packFiles({ "index.html": `<p>${name}`, "big.bin": randomBytes(6 * megabyte), "manifest.yaml": manifestOf(name, "1.0.0") });

const unpackingProcesses = () =>
  spawnedBy(daemon.process.pid as number)
    .map(commandOf)
    .filter((line) => line.includes("archive/main.js"));

/** Sends the headers and half of an upload. */
async function sendHalf(archive: Buffer): Promise<RawConnection & { rest: Buffer }> {
  const connection = await openConnection(daemon.url);
  open.push(connection);
  connection.socket.write(
    `POST /api/workers/upload HTTP/1.1\r\nHost: a\r\nX-API-Key: ${daemon.rootKey}\r\n` +
      `Content-Type: multipart/form-data; boundary=B\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  sendChunk(connection, '--B\r\nContent-Disposition: form-data; name="file"; filename="a.tgz"\r\n\r\n');
  sendChunk(connection, archive.subarray(0, archive.length / 2));
  return { ...connection, rest: archive.subarray(archive.length / 2) };
}

function sendChunk({ socket }: RawConnection, bytes: string | Buffer): void {
  socket.write(`${bytes.length.toString(16)}\r\n`);
  socket.write(bytes);
  socket.write("\r\n");
}

function sendRest(connection: RawConnection & { rest: Buffer }): void {
  sendChunk(connection, connection.rest);
  sendChunk(connection, end);
  connection.socket.write("0\r\n\r\n");
}

async function hasBegun(): Promise<boolean> {
  const staged = await readdir(workers(), { recursive: true });
  return staged.some((name) => name.endsWith("content/package"));
}

async function installed(connection: RawConnection, name: string): Promise<void> {
  expect(await connection.nextAnswer()).toMatchObject({ status: 201 });
  connection.socket.destroy();
  expect((await send({ path: `/${name}/` })).text).toBe(`<p>${name}`);
  expect((await send({ method: "DELETE", path: `/api/workers/_/${name}`, headers: { "x-api-key": daemon.rootKey } })).status).toBe(200);
}

test("the daemon unpacks a large upload during its transfer, then installs the worker", async () => {
  const connection = await sendHalf(await bigPackage("big"));
  await expect.poll(hasBegun).toBe(true);
  expect((await send({ path: "/big/" })).status).toBe(404);

  sendRest(connection);

  await installed(connection, "big");
});

test.each([
  [
    "is followed by a second file",
    `\r\n--B\r\nContent-Disposition: form-data; name="file"; filename="b.tgz"\r\n\r\nx${end}`,
    "INVALID_MULTIPART",
  ],
  ["ends without its last boundary", "", "INVALID_MULTIPART"],
  ["exceeds the size limit", Buffer.alloc(maxUploadSizeBytes), "PAYLOAD_TOO_LARGE"],
  ["is damaged", randomBytes(100_000).toString("hex") + end, "INVALID_ARCHIVE"],
] as const)("the daemon deletes all files of an invalid large upload (the upload %s)", async (_, more, code) => {
  const connection = await sendHalf(await bigPackage("big"));
  await expect.poll(hasBegun).toBe(true);

  if (more.length > 0) sendChunk(connection, more);
  connection.socket.write("0\r\n\r\n");

  expectRefusal(await connection.nextAnswer(), code);
  connection.socket.destroy();
});

test("the daemon deletes all files of a large upload when the client disconnects", async () => {
  const connection = await sendHalf(await bigPackage("big"));
  await expect.poll(hasBegun).toBe(true);

  connection.socket.resetAndDestroy();

  await expect.poll(unpackingProcesses).toEqual([]);
});

test("the daemon installs a fourth upload while three uploads stall", async () => {
  const stalled = [];
  for (const name of ["first", "second", "third"]) stalled.push(await sendHalf(await bigPackage(name)));
  await expect.poll(hasBegun).toBe(true);

  const other = await sendHalf(await bigPackage("other"));
  sendRest(other);
  await installed(other, "other");
  for (const connection of stalled) sendRest(connection);

  for (const [index, name] of ["first", "second", "third"].entries()) await installed(stalled[index] as RawConnection, name);
});
