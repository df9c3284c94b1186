import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { connect } from "../support/connect.js";
import { openConnection } from "../support/exchange.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { uploadWorker } from "../support/upload-worker.js";

/** Above the size from which an upload is unpacked while it arrives. */
const largeBytes = 2 * 1024 * 1024;
const boundary = "part-of-the-form";

interface Call {
  readonly path: string;
  readonly contentType: string;
  readonly body: Buffer;
}

const part = (disposition: string, content: Uint8Array | string): Buffer =>
  Buffer.concat([
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from("\r\n"),
  ]);

function form(path: string, ...parts: Buffer[]): Call {
  const body = Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]);
  return { path, contentType: `multipart/form-data; boundary=${boundary}`, body };
}

async function uploadOfBytes(sizeBytes: number): Promise<Call> {
  // gzip cannot compress random bytes.
  const random = Buffer.from(Array.from({ length: sizeBytes }, () => Math.floor(Math.random() * 256)));
  const archive = await packFiles({ "index.html": "planted", "random.bin": random, "manifest.yaml": manifestOf("planted", "1.0.0") });
  return form("/api/workers/upload", part('name="file"; filename="package.tgz"', archive));
}

const calls: readonly [string, () => Call | Promise<Call>][] = [
  [
    "the creation of a key",
    () => ({
      path: "/api/keys",
      contentType: "application/json",
      body: Buffer.from(JSON.stringify({ name: "next", role: "admin", expiresIn: "never" })),
    }),
  ],
  ["the upload of a small package", () => uploadOfBytes(1024)],
  ["the upload of a large package", () => uploadOfBytes(largeBytes)],
  [
    "the upload of a file of a package",
    () =>
      form(
        "/api/workers/files/upload",
        part('name="path"', "workers/victim/1.0.0"),
        part('name="files"; filename="index.html"', "planted"),
      ),
  ],
];

describe("a call whose body arrives slowly", () => {
  let daemon: TestDaemon;
  let root: Client;

  beforeAll(async () => {
    daemon = await startDaemon();
    root = connect(daemon.url, daemon.rootKey);
    await uploadWorker(root, "victim", { "index.html": "original" });
  });
  afterAll(() => daemon.dispose());

  const state = async () => ({
    keys: (await root.keys.list()).keys.map(({ name }) => name),
    workers: (await root.workers.list()).map(({ name }) => name),
    page: await (await fetch(`${daemon.url}/victim/`)).text(),
  });

  /** Sends all but the last bytes, calls `meanwhile`, sends the rest and returns the status. */
  const sendAround = async ({ path, contentType, body }: Call, key: string, meanwhile: () => Promise<unknown>): Promise<number> => {
    const { socket, nextAnswer } = await openConnection(daemon.url);
    const host = new URL(daemon.url).host;
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${daemon.url}\r\nX-API-Key: ${key}\r\nContent-Type: ${contentType}\r\n` +
        `Content-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
    );
    // The daemon requests the body after it has accepted the key.
    expect((await nextAnswer()).status).toBe(100);
    await new Promise<void>((resolve) => socket.write(body.subarray(0, -10), () => resolve()));
    await meanwhile();
    socket.write(body.subarray(-10));
    const { status } = await nextAnswer();
    socket.destroy();
    return status;
  };

  it.each(calls)("fails with 401 and changes nothing when its key is revoked (call: %s)", async (_what, build) => {
    const call = await build();
    const { id, key } = (await root.keys.create({ body: { name: "leaked", role: "admin" } })).data;
    const before = await state();
    expect(await sendAround(call, key, () => root.keys.revoke({ params: { id: String(id) } }))).toBe(401);
    expect(await state()).toEqual({ ...before, keys: before.keys.filter((name) => name !== "leaked") });
  });

  it("succeeds when the API key is not revoked", async () => {
    const { key } = (await root.keys.create({ body: { name: "in force", role: "admin" } })).data;
    for (const [, build] of calls) expect(await sendAround(await build(), key, async () => {})).toBeLessThan(300);
    expect(await state()).toMatchObject({ page: "planted", workers: expect.arrayContaining(["planted"]) });
  });
});
