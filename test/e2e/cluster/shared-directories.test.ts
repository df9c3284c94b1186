import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installationFileName } from "../../../src/shared/installation-file-name.js";
import type { RuntimeEvent } from "../../../src/shared/contract/events.js";
import { ProcessLock } from "../../../src/server/platform/process-lock.js";
import { uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { treeDigest } from "../../support/tree-digest.js";
import { startInstances, type TestInstance, type TestInstances } from "../../support/start-instances.js";

/** Documented maximum delay, with a margin for a busy machine. */
const promisedMs = 2_000;
const marginMs = 4_000;

let instances: TestInstances;
let a: TestInstance;
let b: TestInstance;

beforeAll(async () => {
  instances = await startInstances();
  [a, b] = await Promise.all([instances.start("a"), instances.start("b")]);
});
afterAll(() => instances.dispose());

async function install(on: TestInstance, name: string, files: Record<string, string>, version = "1.0.0"): Promise<void> {
  const archive = await packFiles({ "manifest.yaml": manifestOf(name, version), ...files });
  await on.client.workers.upload({ file: uploadOf("worker.tgz", archive) });
}

const appThatSays = (text: string) => ({ "index.js": `export default { fetch: () => new Response(${JSON.stringify(text)}) };` });

/** Returns the body of a response, or the status if the request failed. */
async function get(on: TestInstance, target: string): Promise<string> {
  const response = await fetch(on.url + target);
  return response.ok ? await response.text() : String(response.status);
}

const delays: number[] = [];

/** Waits until an instance responds with this text and records the delay since another instance acknowledged the change. */
async function expectSoon(on: TestInstance, target: string, answer: string): Promise<void> {
  const startedAt = performance.now();
  await expect.poll(() => get(on, target), { interval: 20, timeout: promisedMs + marginMs }).toBe(answer);
  delays.push(performance.now() - startedAt);
}

/** Echoes the request body, then appends the mark of a file that it imports only at the end. */
const lazyApp = (mark: string) => ({
  "index.js": `export default { fetch(request) {
        if (request.method === "GET") return new Response(${JSON.stringify(mark)});
        const { readable, writable } = new TransformStream();
        (async () => {
          const writer = writable.getWriter();
          for await (const chunk of request.body ?? []) await writer.write(chunk);
          const { mark } = await import("./late.js");
          await writer.write(new TextEncoder().encode(mark));
          await writer.close();
        })();
        return new Response(readable);
      } };`,
  "late.js": `export const mark = ${JSON.stringify(mark)};`,
});

const greeter = async (text: string) =>
  uploadOf(
    "plugin.tgz",
    await packFiles({
      "manifest.yaml": "name: greeter\nbase: /greeter\nenabled: true\n",
      "plugin.js": `export default { routes: { fetch: () => new Response(${JSON.stringify(text)}) } };`,
    }),
  );

describe("a daemon that shares its worker directories with another daemon", () => {
  test("serves workers that the other daemon installs, replaces, toggles or deletes", { timeout: 120_000 }, async () => {
    const params = { scope: "_", name: "app", version: "1.0.0" };
    for (const [here, there] of [
      [a, b],
      [b, a],
      [a, b],
    ] as const) {
      await install(here, "app", appThatSays("first"));
      await expectSoon(there, "/app/", "first");
      await install(here, "app", appThatSays("second"));
      await expectSoon(there, "/app/", "second");
      await here.client.workers.disable({ params });
      await expectSoon(there, "/app/", "404");
      await there.client.workers.enable({ params });
      await expectSoon(here, "/app/", "second");
      await here.client.workers.remove({ params });
      await expectSoon(there, "/app/", "404");
    }
    const sorted = delays.toSorted((one, other) => one - other);
    console.log(
      `seen by another instance after ${sorted[Math.floor(sorted.length / 2)]?.toFixed(0)} ms (median), ${sorted.at(-1)?.toFixed(0)} ms at most`,
    );
  });

  test("lists changes that the other daemon made before the API call", async () => {
    const params = { scope: "_", name: "told", version: "1.0.0" };
    for (let round = 0; round < 5; round += 1) {
      await install(a, "told", appThatSays("told"));
      expect((await b.client.workers.list()).map(({ name }) => name)).toContain("told");
      await b.client.workers.disable({ params });
      await a.client.workers.enable({ params });
      await b.client.workers.remove({ params });
      await expect(a.client.workers.remove({ params })).rejects.toMatchObject({ code: "WORKER_NOT_FOUND" });
    }
  });

  test("serves the new content of a file in a subfolder that the other daemon changed", async () => {
    await install(a, "edited", {
      "index.js": `export { default } from "./lib/deep/app.js";`,
      "lib/deep/app.js": appThatSays("before")["index.js"],
    });
    await expectSoon(b, "/edited/", "before");
    const code = Buffer.from(appThatSays("after")["index.js"]);
    await a.client.workerFiles.upload({
      fields: { path: "workers/edited/1.0.0/lib/deep" },
      files: [uploadOf("app.js", code)],
    });
    await expectSoon(b, "/edited/", "after");
  });

  test("completes a request with the old files when the other daemon replaces the files", { timeout: 60_000 }, async () => {
    await install(a, "lazy", lazyApp("old"));
    await expectSoon(b, "/lazy/", "old");
    // A new isolate has not imported the late file yet.
    await b.client.workers.restart({ params: { scope: "_", name: "lazy", version: "1.0.0" } });
    const call = request(`${b.url}/lazy/`, { method: "POST" });
    call.write("slow ");
    const [answer] = (await once(call, "response")) as [IncomingMessage];
    const pieces: string[] = [];
    answer.setEncoding("utf8").on("data", (piece: string) => pieces.push(piece));
    await expect.poll(() => pieces.join("")).toBe("slow ");

    await install(a, "lazy", lazyApp("new"));
    await expectSoon(b, "/lazy/", "new");
    call.end();
    await once(answer, "end");

    expect(pieces.join("")).toBe("slow old");
  });
});

test("a daemon loads and unloads plugins when another daemon changes them", { timeout: 60_000 }, async () => {
  const params = { name: "greeter" };
  await a.client.plugins.upload({ file: await greeter("hello") });
  await expectSoon(b, "/greeter", "hello");
  await b.client.plugins.upload({ file: await greeter("good day") });
  await expectSoon(a, "/greeter", "good day");
  await a.client.plugins.disable({ params });
  await expectSoon(b, "/greeter", "404");
  await b.client.plugins.enable({ params });
  await expectSoon(a, "/greeter", "good day");
  await a.client.plugins.remove({ params });
  await expectSoon(b, "/greeter", "404");
});

test("a daemon emits events without a principal for changes by another daemon", async () => {
  const seen: RuntimeEvent[] = [];
  const controller = new AbortController();
  const following = (async () => {
    for await (const event of b.client.events.stream.follow({ query: {} }, { signal: controller.signal })) seen.push(event);
  })().catch((error: unknown) => (controller.signal.aborted ? undefined : Promise.reject(error as Error)));
  await expect.poll(() => seen.length).toBeGreaterThan(0);

  await install(a, "told-of", appThatSays("x"), "1.2.3");
  await a.client.workers.remove({ params: { scope: "_", name: "told-of" } });

  await expect.poll(() => seen.map(({ type }) => type)).toContain("worker.deleted");
  const installed = seen.find(({ type }) => type === "worker.installed");
  expect(installed).toMatchObject({
    subject: { name: "told-of", version: "1.2.3" },
    message: "by another daemon",
  });
  expect(installed).not.toHaveProperty("principal");
  expect(seen.filter(({ type }) => type === "worker.installed")).toHaveLength(1);
  controller.abort();
  await following;
});

test("two daemons keep one complete version after concurrent uploads of this version", { timeout: 120_000 }, async () => {
  const files = 30;
  const contents = (mark: string) => Object.fromEntries(Array.from({ length: files }, (_, index) => [`file-${index}.txt`, mark]));
  for (let round = 0; round < 5; round += 1) {
    const marks = Array.from({ length: 6 }, (_, index) => `upload ${index} of round ${round}`);
    await Promise.all(marks.map((mark, index) => install(index % 2 ? a : b, "contested", { "index.html": mark, ...contents(mark) })));
    const folder = path.join(instances.workers, "contested", "1.0.0");
    const names = (await readdir(folder)).filter((name) => name !== "manifest.yaml" && name !== installationFileName);
    expect(names).toHaveLength(files + 1);
    const found = new Set(await Promise.all(names.map((name) => readFile(path.join(folder, name), "utf8"))));
    expect(found.size).toBe(1);
    for (const each of [a, b]) await expectSoon(each, "/contested/", [...found][0] as string);
  }
});

test("a daemon rejects a change after 10 s when another daemon locks the directory", { timeout: 60_000 }, async () => {
  await install(a, "held", appThatSays("before"));
  const folder = path.join(instances.workers, "held");
  // The isolate links its files, which the digest counts.
  expect(await get(a, "/held/")).toBe("before");
  const before = await treeDigest(folder);
  const lock = ProcessLock.take(path.join(instances.workers, ".instances", "lock"));
  try {
    const refused = install(a, "held", appThatSays("after"));
    await expect(refused).rejects.toMatchObject({ code: "DIRECTORY_BUSY", status: 503 });
    expect(await get(a, "/held/")).toBe("before");
    expect(await treeDigest(folder)).toBe(before);
  } finally {
    lock?.release();
  }
  await install(b, "held", appThatSays("after"));
  await expectSoon(a, "/held/", "after");
});
