import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WorkerServer } from "../../support/worker-server.js";

/** Runs the attempt that its query names and returns the result. */
const prober = `
import fs from "node:fs";
import os from "node:os";
import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
const attempts = {
  environment: () => process.env,
  env: (_, env) => env,
  own: () => fs.readFileSync(new URL("own.txt", import.meta.url), "utf8"),
  read: (file) => fs.readFileSync(file, "utf8"),
  list: (folder) => fs.readdirSync(folder),
  stat: (file) => fs.statSync(file).size,
  open: (file) => fs.openSync(file, "r"),
  write: (file) => fs.writeFileSync(file, "written"),
  link: (file) => fs.symlinkSync(file, new URL("link", import.meta.url)),
  writeOwn: () => fs.writeFileSync(new URL("own.txt", import.meta.url), "changed"),
  exec: () => require("child_process").execSync("id").toString(),
  fork: () => require("child_process").fork(new URL(import.meta.url)).pid,
  thread: () => new (require("worker_threads").Worker)("1", { eval: true }).threadId,
  kill: (pid) => process.kill(Number(pid), 0),
  killTwin: (pid) => process._kill(Number(pid), 0),
  binding: () => Object.keys(process.binding("fs")),
  linkedBinding: () => process._linkedBinding("x"),
  dlopen: () => process.dlopen({ exports: {} }, "/usr/lib/x86_64-linux-gnu/libc.so.6"),
  inspector: () => require("inspector").open(0),
  debugProcess: (pid) => process._debugProcess(Number(pid)),
  report: () => process.report.getReport().environmentVariables,
  chdir: () => process.chdir("/"),
  setuid: () => process.setuid(1),
  priority: (pid) => os.setPriority(Number(pid), 5),
  wasi: () => new (require("wasi").WASI)({ version: "preview1", preopens: { "/": "/" } }),
  arguments: () => [process.argv, process.execArgv].flat().join(" "),
  network: async () => (await fetch("data:text/plain,reached")).text(),
  modules: () => [typeof require("crypto").randomUUID(), typeof structuredClone, typeof WebSocket !== "undefined"].join(),
};
export default { async fetch(request, env) {
  const query = new URL(request.url).searchParams;
  try {
    return Response.json({ value: (await attempts[query.get("try")](query.get("with"), env)) ?? null });
  } catch (error) {
    return Response.json({ error: error.code ?? error.name });
  }
} };`;

let server: WorkerServer;
let otherFolder: string;
let ownFolder: string;
beforeAll(async () => {
  process.env["RUNTIME_ROOT_KEY"] = "rtk_very-secret";
  server = await WorkerServer.start();
  otherFolder = (await server.add("other", { files: { "index.html": "", "secret.txt": "secret" } })).folder;
  const files = { "index.js": prober, "own.txt": "own file" };
  ownFolder = (await server.add("prober", { files, manifest: { env: { NAME: "value", COUNT: 3 } } })).folder;
});
afterAll(async () => {
  delete process.env["RUNTIME_ROOT_KEY"];
  await server.stop();
});

async function attempt(what: string, value = ""): Promise<{ value?: unknown; error?: string }> {
  const response = await server.fetch(`/prober/?try=${what}&with=${encodeURIComponent(value)}`);
  return (await response.json()) as { value?: unknown; error?: string };
}

describe("a worker in its sandbox", () => {
  test("receives only the variables of its manifest and four variables of the daemon", async () => {
    expect(await attempt("environment")).toEqual({
      value: {
        NAME: "value",
        COUNT: "3",
        NODE_ENV: "production",
        PORT: "3000",
        HOME: expect.stringMatching(/\/tmp$/),
        TMPDIR: expect.stringMatching(/\/tmp$/),
      },
    });
    expect(await attempt("env")).toEqual({ value: { NAME: "value", COUNT: "3" } });
  });

  test("can read its own files and use the network and built-in modules", async () => {
    expect(await attempt("own")).toEqual({ value: "own file" });
    expect(await attempt("network")).toEqual({ value: "reached" });
    expect(((await attempt("modules")).value as string).startsWith("string,function")).toBe(true);
  });

  test("receives no data of the daemon in the command line of its process", async () => {
    const { value } = await attempt("arguments");
    expect(value).not.toContain("rtk_");
    expect(value).not.toContain(ownFolder);
  });

  test.each(["/etc/passwd", "/proc/self/environ", "/proc/self/mem", "/proc/1/environ", `/proc/${process.pid}/environ`, "/"])(
    "cannot read the path %s",
    async (file) => {
      for (const how of ["read", "list", "stat", "open"]) expect(await attempt(how, file)).toEqual({ error: "ERR_ACCESS_DENIED" });
    },
  );

  test("cannot read other workers, other sandbox folders or the real path of its folder", async () => {
    for (const file of [
      path.join(otherFolder, "secret.txt"),
      path.join(ownFolder, "own.txt"),
      server.directory,
      path.join(server.directory, ".slots"),
    ]) {
      for (const how of ["read", "list", "stat"]) expect(await attempt(how, file)).toEqual({ error: "ERR_ACCESS_DENIED" });
    }
    await mkdir(path.join(server.directory, ".slots", "12345"), { recursive: true });
    await writeFile(path.join(server.directory, ".slots", "12345", "x"), "");
    expect(await attempt("read", path.join(server.directory, ".slots", "12345", "x"))).toEqual({ error: "ERR_ACCESS_DENIED" });
  });

  test("cannot write files or create links", async () => {
    for (const file of [path.join(server.directory, "new"), path.join(ownFolder, "new"), "/tmp/new"]) {
      expect(await attempt("write", file)).toEqual({ error: "ERR_ACCESS_DENIED" });
    }
    expect(await attempt("writeOwn")).toEqual({ error: "ERR_ACCESS_DENIED" });
    expect(await attempt("link", "/etc/passwd")).toEqual({ error: "ERR_ACCESS_DENIED" });
    expect(await attempt("own")).toEqual({ value: "own file" });
  });

  test.each(["exec", "fork", "thread", "inspector", "wasi"])("cannot use the Node.js feature %s", async (what) => {
    expect(await attempt(what)).toEqual({ error: "ERR_ACCESS_DENIED" });
  });

  test.each(["kill", "killTwin", "binding", "linkedBinding", "dlopen", "debugProcess", "setuid"])(
    "cannot call the process function %s",
    async (what) => {
      expect(await attempt(what, String(process.pid))).toEqual({ error: "TypeError" });
    },
  );

  test("cannot change its working directory to a folder outside of its package", async () => {
    expect(await attempt("chdir")).toEqual({ error: "ERR_ACCESS_DENIED" });
  });

  test("finds no environment variables in process.report", async () => {
    expect(await attempt("report")).toEqual({ value: null });
  });

  test("cannot change the process priority of the daemon", async () => {
    expect(await attempt("priority", String(process.pid))).toEqual({ error: "Error" });
  });
});
