import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WorkerServer } from "../../support/worker-server.js";

const module = `
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
const codeOf = (attempt) => { try { return attempt() ?? "done"; } catch (error) { return error.code; } };
const seen = [];
addEventListener("unhandledrejection", (event) => {
  seen.push(event.constructor.name, event.type, event.reason.message, event.promise instanceof Promise);
  if (event.reason.message === "expected") event.preventDefault();
});
const attempts = {
  mode: () => [process.env.NODE_ENV, process.env.HOME === os.tmpdir(), os.homedir() === os.tmpdir()],
  directory: () => [process.cwd() === fs.realpathSync(import.meta.dirname), fs.readFileSync("data.txt", "utf8"), fs.readFileSync("./sub/a.txt", "utf8")],
  change: () => {
    const home = process.cwd();
    process.chdir("sub");
    const inside = fs.readFileSync("a.txt", "utf8");
    process.chdir(home);
    return [inside, codeOf(() => process.chdir("/etc")), codeOf(() => process.chdir("../../..")), codeOf(() => process.chdir("missing")), process.cwd() === home];
  },
  report: () => [process.report.excludeNetwork = true, typeof process.report.getReport().header.glibcVersionRuntime, Object.keys(process.report.getReport()), codeOf(() => process.report.writeReport())],
  self: () => [self === globalThis, typeof navigator.userAgent, onerror],
  reportError: () => { reportError(new Error("reported by the app")); return process.pid; },
  onerror: () => { onerror = (event) => { seen.push(event.message); event.preventDefault(); }; reportError(new Error("handled")); onerror = null; return seen; },
  reject: (message) => { Promise.reject(new Error(message)); return process.pid; },
  throw: () => { onerror = (event) => event.preventDefault(); setTimeout(() => { throw new Error("late"); }); return process.pid; },
  seen: () => seen,
  pid: () => process.pid,
};
export default { fetch: (request) => { const { searchParams } = new URL(request.url); return Response.json(attempts[searchParams.get("try")](searchParams.get("with"))); } };`;

let server: WorkerServer;
beforeAll(async () => {
  server = await WorkerServer.start();
  const files = { "index.js": module, "data.txt": "data", "sub/a.txt": "a" };
  await server.add("app", { files });
  await server.add("granted", { files, manifest: { network: { mode: "none" }, env: { NODE_ENV: "test", HOME: "/home/app" } } });
});
afterAll(() => server.stop());

async function attempt(name: string, value = "", app = "app"): Promise<unknown> {
  return (await server.fetch(`/${app}/?try=${name}&with=${value}`)).json();
}

const logged = () => server.log.map(({ msg }) => msg).join("\n");

describe("the environment of a worker", () => {
  test("has NODE_ENV=production and a temporary home folder", async () => {
    expect(await attempt("mode")).toEqual(["production", true, true]);
  });

  test("has the values of NODE_ENV and HOME that the manifest sets", async () => {
    expect(await attempt("mode", "", "granted")).toEqual(["test", false, false]);
  });

  test.each(["app", "granted"])("has the package folder as its working directory (worker %s)", async (app) => {
    expect(await attempt("directory", "", app)).toEqual([true, "data", "a"]);
    expect(await attempt("change", "", app)).toEqual(["a", "ERR_ACCESS_DENIED", "ERR_ACCESS_DENIED", "ENOENT", true]);
  });

  test("has a process.report that contains only the header and the shared objects", async () => {
    expect(await attempt("report")).toEqual([true, "string", ["header", "sharedObjects"], null]);
  });

  test("has the globals self, navigator and onerror", async () => {
    expect(await attempt("self")).toEqual([true, "string", null]);
  });
});

describe("an error outside of a request", () => {
  test("is logged, and the isolate continues, when the app calls reportError", async () => {
    expect(await attempt("reportError")).toBe(await attempt("pid"));
    await expect.poll(logged).toContain("reported by the app");
  });

  test("is not logged when the app's onerror handler calls preventDefault", async () => {
    expect(await attempt("onerror")).toContain("handled");
    expect(logged()).not.toContain("Error: handled");
  });

  test("does not stop the isolate when an unhandledrejection listener handles the error", async () => {
    const pid = await attempt("reject", "expected");
    await expect
      .poll(() => attempt("seen"))
      .toEqual(expect.arrayContaining(["PromiseRejectionEvent", "unhandledrejection", "expected", true]));
    expect(await attempt("pid")).toBe(pid);
    expect(logged()).not.toContain("Error: expected");
  });

  test("stops the isolate when no listener handles the error, and a new isolate starts", async () => {
    const pid = await attempt("reject", "unexpected");
    await expect.poll(() => attempt("pid")).not.toBe(pid);
    expect(logged()).toContain("Error: unexpected");
  });

  test("does not stop the isolate when the app's onerror handler calls preventDefault", async () => {
    const pid = await attempt("throw");
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await attempt("pid")).toBe(pid);
  });
});
