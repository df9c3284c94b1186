import { once } from "node:events";
import { mkdir, readdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { Readable } from "node:stream";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Agent, request } from "undici";
import { readUpload } from "../../../src/server/http/upload-body.js";
import type { ApiError } from "../../../src/shared/api-error.js";
import { exchange, openConnection } from "../../support/exchange.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { settledDigest } from "../../support/settled-digest.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { createSender, expectRefusal } from "../../support/send.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";

const maxUploadSizeBytes = 256 * 1024;
const multipart = "multipart/form-data; boundary=B";

let daemon: TestDaemon;
let send: ReturnType<typeof createSender>;
let emptyWorkers: string;

beforeAll(async () => {
  daemon = await startDaemon({ env: { RUNTIME_MAX_UPLOAD_SIZE: String(maxUploadSizeBytes) } });
  send = createSender(daemon.url);
  await mkdir(path.join(daemon.directory, "workers"), { recursive: true });
  emptyWorkers = await settledDigest(path.join(daemon.directory, "workers"));
});

afterEach(async () => {
  await expect.poll(spooledFiles, { timeout: 10_000 }).toEqual([]);
  expect(await settledDigest(path.join(daemon.directory, "workers"))).toBe(emptyWorkers);
  expect(daemon.process.exitCode).toBeNull();
});

afterAll(async () => {
  await send.close();
  await daemon.dispose();
});

const spooledFiles = () => readdir(path.join(daemon.directory, "state", "spool"));

const openDescriptors = async () => (await readdir(`/proc/${daemon.process.pid}/fd`)).length;

const upload = (headers: Record<string, string>, body: string | Buffer | Readable | null) =>
  send({ method: "POST", path: "/api/workers/upload", headers: { "x-api-key": daemon.rootKey, ...headers }, body });

const filePart = (filename: string, content: string, name = "file") =>
  `--B\r\nContent-Disposition: form-data; name="${name}"; filename="${filename}"\r\nContent-Type: application/gzip\r\n\r\n${content}\r\n`;
const fieldPart = (name: string, value: string) => `--B\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const end = "--B--\r\n";

describe("an invalid multipart body", () => {
  test.each([
    ["without a boundary", "multipart/form-data", filePart("a.tgz", "x") + end, "INVALID_MULTIPART"],
    ["with an empty boundary", "multipart/form-data; boundary=", filePart("a.tgz", "x") + end, "INVALID_MULTIPART"],
    ["with another boundary than announced", "multipart/form-data; boundary=C", filePart("a.tgz", "x") + end, "INVALID_MULTIPART"],
    ["without its last boundary", multipart, filePart("a.tgz", "x"), "INVALID_MULTIPART"],
    ["truncated in the headers of a part", multipart, filePart("a.tgz", "x").slice(0, 30), "INVALID_MULTIPART"],
    ["truncated in a file", multipart, filePart("a.tgz", "x".repeat(9_000)).slice(0, 5_000), "INVALID_MULTIPART"],
    ["with invalid headers of a part", multipart, `--B\r\nContent Disposition\r\n\r\nx\r\n${end}`, "INVALID_MULTIPART"],
    ["that is empty", multipart, "", "INVALID_MULTIPART"],
    ["that is not multipart at all", multipart, "just text", "INVALID_MULTIPART"],
    ["with two files in the field file", multipart, filePart("a.tgz", "x") + filePart("b.tgz", "y") + end, "INVALID_MULTIPART"],
    ["with a file in another field", multipart, filePart("a.tgz", "x", "archive") + end, "INVALID_MULTIPART"],
    [
      "with a file in another field before the expected field",
      multipart,
      filePart("a", "x", "f") + filePart("a.tgz", "x") + end,
      "INVALID_MULTIPART",
    ],
    ["with a file in the field __proto__", multipart, filePart("a.tgz", "x", "__proto__") + end, "INVALID_MULTIPART"],
    ["without parts", multipart, end, "NO_FILE_PROVIDED"],
    ["with fields only", multipart, fieldPart("file", "x") + fieldPart("__proto__", "y") + end, "NO_FILE_PROVIDED"],
    ["of another type", "application/json", "{}", "UNSUPPORTED_MEDIA_TYPE"],
    ["of another multipart type", "multipart/mixed; boundary=B", filePart("a.tgz", "x") + end, "UNSUPPORTED_MEDIA_TYPE"],
    ["with a file name without a known extension", multipart, filePart("a.rar", "x") + end, "INVALID_FILE_TYPE"],
    ["from a form without a selected file", multipart, filePart("", "") + end, "NO_FILE_PROVIDED"],
    ["with a file that is not an archive", multipart, filePart("a.tgz", "x") + end, "INVALID_ARCHIVE"],
    ["with a file name that contains ..", multipart, filePart("../../../a.tgz", "x") + end, "INVALID_ARCHIVE"],
    ["with a file name of 10,000 characters", multipart, filePart(`${"a".repeat(10_000)}.zip`, "x") + end, "INVALID_ARCHIVE"],
  ] as const)("is rejected and leaves no file on the daemon (body %s)", async (_, contentType, body, code) => {
    const sent = [Buffer.from(body), Readable.from([Buffer.from(body)])];

    for (const payload of sent) expectRefusal(await upload({ "content-type": contentType }, payload), code);
  });

  test("is rejected with NO_FILE_PROVIDED when the body or its Content-Type is missing", async () => {
    expectRefusal(await upload({}, null), "NO_FILE_PROVIDED");
    expectRefusal(await upload({}, "x"), "NO_FILE_PROVIDED");
  });

  test.each(["gzip", "br", "deflate", "identity, gzip"])("is rejected when it has the Content-Encoding %s", async (encoding) => {
    const answer = await upload({ "content-type": multipart, "content-encoding": encoding }, filePart("a.tgz", "x") + end);

    expectRefusal(answer, "UNSUPPORTED_MEDIA_TYPE");
  });

  test.each([
    ["5,000 fields", fieldPart("a", "b").repeat(5_000)],
    ["3,000 files", filePart("a.tgz", "x").repeat(3_000)],
    ["5,000 fields after the file", filePart("a.tgz", "x") + fieldPart("a", "b").repeat(5_000)],
  ])("is rejected when it has too many parts (parts: %s)", async (_, parts) => {
    expectRefusal(await upload({ "content-type": multipart }, parts + end), "INVALID_MULTIPART");
  });
});

describe("the upload size limit", () => {
  test.each([
    ["one byte more than the limit, with Content-Length", 1, false, "PAYLOAD_TOO_LARGE"],
    ["one byte more than the limit, in chunks", 1, true, "PAYLOAD_TOO_LARGE"],
    ["ten times the limit, with Content-Length", 9 * maxUploadSizeBytes, false, "PAYLOAD_TOO_LARGE"],
    ["ten times the limit, in chunks", 9 * maxUploadSizeBytes, true, "PAYLOAD_TOO_LARGE"],
    ["exactly the limit", 0, false, "INVALID_ARCHIVE"],
    ["exactly the limit, in chunks", 0, true, "INVALID_ARCHIVE"],
  ] as const)("rejects a body above the limit and accepts a body at the limit (body with %s)", async (_, excessBytes, inChunks, code) => {
    const body = Buffer.from(filePart("a.tgz", "x".repeat(maxUploadSizeBytes + excessBytes)) + end);

    const answer = await upload({ "content-type": multipart }, inChunks ? Readable.from([body]) : body);

    expectRefusal(answer, code);
  });

  test("rejects a Content-Length above the limit before the client sends the body", async () => {
    const head = `POST /api/workers/upload HTTP/1.1\r\nHost: a\r\nX-API-Key: ${daemon.rootKey}\r\nContent-Type: ${multipart}\r\nContent-Length: 999999999\r\n\r\n`;

    expectRefusal(await exchange(daemon.url, head), "PAYLOAD_TOO_LARGE");
  });
});

describe("a client that uploads a file", () => {
  const body = filePart("a.tgz", "x".repeat(200_000)) + end;
  const head = () =>
    `POST /api/workers/upload HTTP/1.1\r\nHost: a\r\nX-API-Key: ${daemon.rootKey}\r\nContent-Type: ${multipart}\r\nContent-Length: ${body.length}\r\n\r\n`;

  test.each([0, 50, 99])("leaves no file on the daemon when it disconnects after %i percent", async (percent) => {
    const sent = body.slice(0, (body.length * percent) / 100);
    const before = await openDescriptors();

    for (let attempt = 0; attempt < 10; attempt += 1) {
      const { socket } = await openConnection(daemon.url);
      socket.write(head() + sent);
      if (percent > 0) await expect.poll(spooledFiles, { timeout: 10_000, interval: 2 }).not.toEqual([]);
      socket.resetAndDestroy();
      await expect.poll(spooledFiles, { timeout: 10_000, interval: 2 }).toEqual([]);
    }

    await expect.poll(openDescriptors, { timeout: 10_000 }).toBeLessThanOrEqual(before + 1);
  });

  test("can use its connection again after a rejected upload", async () => {
    const { socket, nextAnswer } = await openConnection(daemon.url);
    const refused = filePart("a.tgz", "x", "wrong") + "x".repeat(100_000);
    socket.write(head().replace(String(body.length), String(refused.length)) + refused.slice(0, 50_000));
    expectRefusal(await nextAnswer(), "INVALID_MULTIPART");

    socket.write(`${refused.slice(50_000)}GET /api/health/live HTTP/1.1\r\nHost: a\r\n\r\n`);

    expect((await nextAnswer()).status).toBe(200);
    socket.destroy();
  });

  test("is disconnected when it never completes the body of a rejected upload", async () => {
    const { socket, nextAnswer, closed } = await openConnection(daemon.url);
    socket.write(head() + filePart("a.tgz", "x", "wrong"));
    expectRefusal(await nextAnswer(), "INVALID_MULTIPART");

    expect(await closed()).toBe("");
  });
});

test("the daemon leaves no spool file when it rejects 200 uploads during file creation", async () => {
  const spoolDirectory = await temporaryDirectory();
  const server = createServer((incoming, response) => {
    const reading = readUpload(incoming, { field: "file", spoolDirectory, maxSizeBytes: maxUploadSizeBytes, assertAllowed: () => {} });
    void reading.catch((error: ApiError) => response.end(error.code));
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const agent = new Agent({ connections: 20 });
  onTestFinished(() => agent.destroy());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const body = filePart("a.tgz", "x") + filePart("b.tgz", "y") + end;

  const refuse = () => request(origin, { method: "POST", headers: { "content-type": multipart }, body, dispatcher: agent });
  const answers = await Promise.all(Array.from({ length: 200 }, async () => (await refuse()).body.text()));

  expect(new Set(answers)).toEqual(new Set(["INVALID_MULTIPART"]));
  expect(await readdir(spoolDirectory)).toEqual([]);
});

test("the daemon installs a valid upload unchanged after many rejected uploads", async () => {
  const archive = await packFiles({ "manifest.yaml": manifestOf("sound", "1.0.0"), "index.html": "<p>sound" });
  const body = Buffer.concat([Buffer.from(filePart("a.tgz", "\0").split("\0")[0] ?? ""), archive, Buffer.from(`\r\n${end}`)]);

  const answer = await upload({ "content-type": multipart }, body);

  expect(answer.status).toBe(201);
  expect((await send({ path: "/sound/" })).text).toBe("<p>sound");
  const removal = await send({ method: "DELETE", path: "/api/workers/_/sound", headers: { "x-api-key": daemon.rootKey } });
  expect(removal.status).toBe(200);
});
