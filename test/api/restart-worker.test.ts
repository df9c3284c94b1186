import { afterAll, beforeAll, expect, test } from "vitest";
import { packFiles } from "../support/pack-files.js";
import { createSender, expectRefusal } from "../support/send.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

let daemon: TestDaemon;
let send: ReturnType<typeof createSender>;
beforeAll(async () => {
  daemon = await startDaemon();
  send = createSender(daemon.url);
});
afterAll(async () => {
  await send.close();
  await daemon.dispose();
});

async function upload(manifest: string, code: string) {
  const body = new FormData();
  body.set("file", new Blob([new Uint8Array(await packFiles({ "manifest.yaml": manifest, "index.js": code }))]), "app.tgz");
  return fetch(`${daemon.url}/api/workers/upload`, { method: "POST", headers: { "x-api-key": daemon.rootKey }, body });
}
const restart = (path: string) => send({ method: "POST", path: `/api/workers/${path}/restart`, headers: { "x-api-key": daemon.rootKey } });

test("a restarted version answers with a fresh isolate, and the call says how many went", async () => {
  await upload("name: app\n", "export default { fetch: () => new Response(String(process.pid)) };");
  expect(JSON.parse((await restart("_/app/latest")).text)).toEqual({
    success: true,
    data: { name: "app", version: "latest", restarted: 0 },
  });
  const { text: pid } = await send({ path: "/app/" });
  expect(JSON.parse((await restart("_/app/latest")).text)).toMatchObject({ data: { restarted: 1 } });
  expect((await send({ path: "/app/" })).text).not.toBe(pid);
});

test("a version that is not there cannot be restarted", async () => {
  expectRefusal(await restart("_/nobody/latest"), "WORKER_NOT_FOUND");
  expectRefusal(await restart("_/app/9.9.9"), "WORKER_VERSION_NOT_FOUND");
});

test("an upload that asks for more than this server gives is refused, and what was there stays", async () => {
  await upload("name: modest\n", "export default { fetch: () => new Response('before') };");
  const refused = await upload("name: modest\npermissions: [child-process]\n", "export default { fetch: () => new Response('after') };");
  expect(refused.status).toBe(400);
  const { error } = (await refused.json()) as { error: { code: string; message: string } };
  expect(error.code).toBe("INVALID_PACKAGE_METADATA");
  expect(error.message).toMatch(/child-process.*RUNTIME_WORKER_PERMISSIONS/);
  expect((await send({ path: "/modest/" })).text).toBe("before");
});
