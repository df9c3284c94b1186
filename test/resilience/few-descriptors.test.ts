import { readdir } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ApiError } from "../../src/shared/api-error.js";
import { connect, uploadOf } from "../support/connect.js";
import { entriesOf } from "../support/entries-of.js";
import { openConnection } from "../support/exchange.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { startDaemon } from "../support/start-daemon.js";
import { treeDigest } from "../support/tree-digest.js";

/** Node needs about 200 descriptors to load the daemon. */
const mostDescriptors = 300;
const connectionCount = 500;

test("a daemon rejects uploads only while it has no free file descriptor", { timeout: 120_000 }, async () => {
  const daemon = await startDaemon({ launcher: ["sh", "-c", `ulimit -n ${mostDescriptors}; exec "$0" "$@"`] });
  onTestFinished(daemon.dispose);
  const client = connect(daemon.url, daemon.rootKey);
  const archive = await packFiles({ "manifest.yaml": manifestOf("app", "1.0.0"), "index.html": "old" });
  await client.workers.upload({ file: uploadOf("app.tgz", archive) });
  const workers = path.join(daemon.directory, "workers");
  const before = await treeDigest(workers);

  // This connection opens before the others and uploads after they are open.
  const early = await openConnection(daemon.url);
  const crowd = await Promise.all(Array.from({ length: connectionCount }, () => openConnection(daemon.url)));
  const descriptors = async () => (await readdir(`/proc/${daemon.process.pid}/fd`)).length;
  await expect.poll(descriptors).toBeGreaterThanOrEqual(mostDescriptors - 1);
  const replacement = await packFiles({ "manifest.yaml": manifestOf("app", "1.0.0"), "index.html": "new" });
  const boundary = "boundary";
  const body = Buffer.concat([
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="app.tgz"\r\n\r\n`),
    replacement,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  early.socket.write(
    `POST /api/workers/upload HTTP/1.1\r\nHost: ${new URL(daemon.url).host}\r\nX-API-Key: ${daemon.rootKey}\r\n` +
      `Content-Type: multipart/form-data; boundary=${boundary}\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  early.socket.write(body);
  const answer = await early.nextAnswer();
  expect([answer.status, answer.headers["retry-after"]]).toEqual([503, "1"]);
  expect(JSON.parse(answer.text)).toMatchObject({ error: { code: "TOO_MANY_OPEN_FILES" } });
  await expect.poll(daemon.output).toMatch(/"code":"TOO_MANY_OPEN_FILES".*EMFILE.*"msg":"the call failed"/);
  expect(await treeDigest(workers)).toBe(before);

  for (const { socket } of [early, ...crowd]) socket.destroy();
  const works = () =>
    client.workers.upload({ file: uploadOf("app.tgz", replacement) }).then(
      () => "done",
      (error: unknown) => (error instanceof ApiError ? error.code : "no connection"),
    );
  await expect.poll(works).toBe("done");
  expect(await (await fetch(`${daemon.url}/app/`)).text()).toBe("new");
  await expect.poll(async () => [...entriesOf(workers), ...(await readdir(path.join(daemon.directory, "state/spool")))]).toEqual(["app"]);
});
