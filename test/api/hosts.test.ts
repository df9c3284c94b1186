import { afterAll, expect, test } from "vitest";
import { connect } from "../support/connect.js";
import { openNamespace } from "../support/open-namespace.js";

const { daemon, scope, dispose } = openNamespace();
const root = connect(daemon.url, daemon.rootKey);
const host = `${scope.slice(1)}.example.org`;
afterAll(async () => {
  await root.hosts.remove({ params: { host } });
  await dispose();
});

test("hosts.show returns the worker of a host only to keys of the worker's namespace", async () => {
  await root.hosts.add({ params: { host }, body: { worker: `${scope}/shop` } });
  const keyOf = async (namespaces: string[]) =>
    (await root.keys.create({ body: { name: "key", role: "custom", permissions: ["workers:read"], namespaces } })).data.key;

  expect(await root.hosts.show({ params: { host } })).toMatchObject({ host, worker: `${scope}/shop` });
  expect(await connect(daemon.url, await keyOf([scope])).hosts.show({ params: { host } })).toMatchObject({ host });
  await expect(connect(daemon.url, await keyOf(["@other"])).hosts.show({ params: { host } })).rejects.toMatchObject({
    code: "HOST_NOT_FOUND",
  });
  await expect(root.hosts.show({ params: { host: "none.example.org" } })).rejects.toMatchObject({ code: "HOST_NOT_FOUND" });
});
