import { afterAll, beforeAll, expect, test } from "vitest";
import { openNamespace, type Namespace } from "../support/open-namespace.js";
import { packFiles } from "../support/pack-files.js";
import { createSender, expectRefusal } from "../support/send.js";

let namespace: Namespace;
let send: ReturnType<typeof createSender>;
beforeAll(() => {
  namespace = openNamespace();
  send = createSender(namespace.daemon.url);
});
afterAll(async () => {
  await send.close();
  await namespace.dispose();
});

async function upload(name: string, code: string, manifest = "") {
  const { daemon, scope } = namespace;
  const lines = `name: "${scope}/${name}"\n${manifest}`;
  const body = new FormData();
  body.set("file", new Blob([new Uint8Array(await packFiles({ "manifest.yaml": lines, "index.js": code }))]), "app.tgz");
  return fetch(`${daemon.url}/api/workers/upload`, { method: "POST", headers: { "x-api-key": daemon.rootKey }, body });
}
const restart = (version: string) =>
  send({
    method: "POST",
    path: `/api/workers/${namespace.scope}/${version}/restart`,
    headers: { "x-api-key": namespace.daemon.rootKey },
  });
const served = async (name: string) => (await send({ path: `/${namespace.scope}/${name}/` })).text;

test("a worker restart starts a new isolate and returns the number of old isolates", async () => {
  await upload("app", "export default { fetch: () => new Response(String(process.pid)) };");
  expect(JSON.parse((await restart("app/latest")).text)).toEqual({
    success: true,
    data: { name: `${namespace.scope}/app`, version: "latest", restarted: 0 },
  });
  const pid = await served("app");
  expect(JSON.parse((await restart("app/latest")).text)).toMatchObject({ data: { restarted: 1 } });
  expect(await served("app")).not.toBe(pid);
});

test("the restart of a missing worker or version is rejected", async () => {
  expectRefusal(await restart("absent/latest"), "WORKER_NOT_FOUND");
  expectRefusal(await restart("app/9.9.9"), "WORKER_VERSION_NOT_FOUND");
});

test("an upload is rejected when it requests a permission that the operator denies", async () => {
  await upload("modest", "export default { fetch: () => new Response('before') };");
  const refused = await upload("modest", "export default { fetch: () => new Response('after') };", "permissions: [child-process]\n");
  expect(refused.status).toBe(400);
  const { error } = (await refused.json()) as { error: { code: string; message: string } };
  expect(error.code).toBe("INVALID_PACKAGE_METADATA");
  expect(error.message).toMatch(/child-process.*RUNTIME_WORKER_PERMISSIONS/);
  expect(await served("modest")).toBe("before");
});
