import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { PermissionPolicy } from "../../../src/server/workers/engine/permission-policy.js";
import { WorkerManifest } from "../../../src/shared/worker-manifest.js";
import { WorkerServer } from "../../support/worker-server.js";

const prober = `
import fs from "node:fs";
import { execFileSync } from "node:child_process";
import { Worker } from "node:worker_threads";
const attempts = {
  processes: () => execFileSync("/bin/sh", ["-c", "ulimit -p"], { encoding: "utf8" }).trim(),
  exec: () => execFileSync("/bin/echo", ["ran"], { encoding: "utf8" }).trim(),
  thread: () => new Promise((resolve, reject) => new Worker("require('worker_threads').parentPort.postMessage('ran')", { eval: true }).on("message", resolve).on("error", reject)),
  read: (file) => fs.readFileSync(file, "utf8"),
  write: (file) => { fs.writeFileSync(file, "kept"); return "written"; },
};
export default { async fetch(request) {
  const query = new URL(request.url).searchParams;
  try {
    return Response.json({ value: await attempts[query.get("try")](query.get("with")) });
  } catch (error) {
    return Response.json({ error: error.code ?? error.name });
  }
} };`;

let server: WorkerServer;
let data: string;
beforeAll(async () => {
  data = path.join(await mkdtemp(path.join(tmpdir(), "data-")), "kept");
  server = await WorkerServer.start({ permissions: ["child-process", "worker-threads", `fs-read:${data}`, `fs-write:${data}`] });
});
afterAll(async () => {
  await server.stop();
  await rm(path.dirname(data), { recursive: true, force: true });
});

async function attempt(name: string, what: string, value = ""): Promise<unknown> {
  return (await server.fetch(`/${name}/?try=${what}&with=${encodeURIComponent(value)}`)).json();
}

const denied = { error: "ERR_ACCESS_DENIED" };

describe("the isolate of a worker", () => {
  test("has only the permissions that the manifest requests and the operator allows", async () => {
    await server.add("runner", { files: { "index.js": prober }, manifest: { permissions: ["child-process"] } });
    await server.add("threads", { files: { "index.js": prober }, manifest: { permissions: ["worker-threads"] } });
    expect(await attempt("runner", "exec")).toEqual({ value: "ran" });
    expect(await attempt("runner", "thread")).toEqual(denied);
    expect(await attempt("runner", "read", "/etc/passwd")).toEqual(denied);
    expect(await attempt("threads", "thread")).toEqual({ value: "ran" });
    expect(await attempt("threads", "exec")).toEqual(denied);
  });

  test.runIf(process.getuid?.() === 0)("shares one limit for child processes with the worker's other isolates", async () => {
    await server.add("forker", { files: { "index.js": prober }, manifest: { permissions: ["child-process"] } });
    expect(await attempt("forker", "processes")).toEqual({ value: "2048" });
  });

  test("ignores the worker's value of UV_THREADPOOL_SIZE", async () => {
    const code = `import { randomBytes } from "node:crypto";
process.env.UV_THREADPOOL_SIZE = "100";
export default { async fetch() {
  await Promise.all(Array.from({ length: 200 }, () => new Promise((done) => randomBytes(1, done))));
  return new Response(String(process.pid));
} };`;
    await server.add("many-threads", { files: { "index.js": code }, manifest: { env: { UV_THREADPOOL_SIZE: "100" } } });
    const status = await readFile(`/proc/${await server.text("/many-threads/")}/status`, "utf8");
    expect(Number(/^Threads:\t(\d+)$/m.exec(status)?.[1])).toBeLessThan(20);
  });

  test("has no permission that the operator allows but the manifest does not request", async () => {
    await server.add("modest", { files: { "index.js": prober } });
    for (const what of ["exec", "thread"]) expect(await attempt("modest", what)).toEqual(denied);
  });

  test.runIf(process.getuid?.() === 0)("can write to its permitted folder, and later processes can read the file", async () => {
    // Without this mode the isolate cannot reach the folder.
    await chmod(path.dirname(data), 0o711);
    const permissions = [`fs-read:${data}`, `fs-write:${data}`];
    await server.add("keeper", { files: { "index.js": prober }, manifest: { permissions, maxRequests: 1 } });
    const file = path.join(data, "note.txt");
    expect(await attempt("keeper", "write", file)).toEqual({ value: "written" });
    expect(await attempt("keeper", "read", file)).toEqual({ value: "kept" });
    expect(await attempt("keeper", "write", path.join(path.dirname(data), "beside.txt"))).toEqual(denied);
  });
});

const addon = fileURLToPath(new URL(`../../../node_modules/better-sqlite3/prebuilds/linux-${process.arch}.node`, import.meta.url));

test("an isolate loads a native addon only with the permission `addons`", async () => {
  const addonServer = await WorkerServer.start({ permissions: ["addons"] });
  onTestFinished(() => addonServer.stop());
  const files = {
    "index.js": `import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
export default { fetch() {
  try { return new Response(typeof require("./addon.node")); } catch (error) { return new Response("denied: " + error.code); }
} };`,
    "addon.node": await readFile(addon),
  };
  await addonServer.add("native", { files, manifest: { permissions: ["addons"] } });
  await addonServer.add("plain", { files });
  expect(await addonServer.text("/native/")).toBe("object");
  expect(await addonServer.text("/plain/")).toMatch(/^denied: /);
});

describe("a manifest permission that the daemon cannot grant", () => {
  test("is rejected at the start with an error that names permission and variable", async () => {
    await server.add("greedy", { files: { "index.js": prober }, manifest: { permissions: ["child-process", "addons"] } });
    expect(await server.refusal("/greedy/")).toMatchObject({
      status: 502,
      code: "WORKER_START_FAILED",
      message: expect.stringMatching(/permission addons.*RUNTIME_WORKER_PERMISSIONS/),
    });
  });

  test("is rejected when no allowed permission of the same kind includes its path", () => {
    const ceiling = new PermissionPolicy(["fs-read:/srv/data"]);
    for (const permission of ["fs-read:/srv/data", "fs-read:/srv/data/", "fs-read:/srv/data/a/b"]) {
      expect(ceiling.refusal({ permissions: [permission] })).toBeUndefined();
    }
    for (const permission of ["fs-read:/srv", "fs-read:/srv/database", "fs-write:/srv/data", "child-process"]) {
      expect(ceiling.refusal({ permissions: [permission] })).toContain(permission);
    }
  });

  test.runIf(!process.allowedNodeEnvironmentFlags.has("--allow-inspector"))(
    "is rejected if the operator allows it but Node.js does not support it",
    () => {
      expect(new PermissionPolicy(["inspector"]).refusal({ permissions: ["inspector"] })).toContain(process.version);
    },
  );
});

test.each([["fs-read:relative"], ["fs-read:/a/../b"], ["fs-read:/a,/b"], ["fs-write:/*"], ["root"], ["network"], [""]])(
  "the manifest permission %j is rejected",
  (permission) => {
    const parsed = WorkerManifest.safeParse({ permissions: [permission] });
    expect(parsed.error?.issues[0]?.message).toContain("child-process");
  },
);
