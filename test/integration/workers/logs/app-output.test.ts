import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LogEntry } from "../../../../src/shared/contract/worker-logs.js";
import { WorkerServer } from "../../../support/worker-server.js";

let server: WorkerServer;

beforeAll(async () => {
  server = await WorkerServer.start();
});
afterAll(() => server.stop());

const entriesOf = (name: string): LogEntry[] => server.logs.readMemory([name], { limit: 10_000 }).entries;
const appEntries = (name: string) => entriesOf(name).filter(({ source }) => source === "app");
const lines = (name: string) => appEntries(name).map(({ level, text }) => [level, text]);

async function run(name: string, body: string, worker: { manifest?: Record<string, unknown> } = {}): Promise<void> {
  await server.add(name, {
    files: { "index.js": `export default { async fetch(request) { ${body}; return new Response("ok"); } }` },
    ...worker,
  });
  await (await server.fetch(`/${name}/`)).text();
}

describe("the console output of a worker", () => {
  test("is logged in order, with its level, in the format of Node.js", async () => {
    await run(
      "levels",
      `console.log("a %s is %d", "b", 1, { c: [1, { d: 2 }] }); console.debug("d"); console.info("i"); console.warn("w"); console.error("e");
       console.table([{ x: 1 }]); console.group("g"); console.log("in\\nside"); console.groupEnd(); console.count(); console.assert(false, "no");
       console.dir({ deep: { deeper: { deepest: { end: 1 } } } }, { depth: 0 }); (await import("node:console")).default.log("same console")`,
    );
    expect(lines("levels")).toEqual([
      ["info", "a b is 1 { c: [ 1, { d: 2 } ] }"],
      ["debug", "d"],
      ["info", "i"],
      ["warn", "w"],
      ["error", "e"],
      ["info", "┌─────────┬───┐\n│ (index) │ x │\n├─────────┼───┤\n│ 0       │ 1 │\n└─────────┴───┘"],
      ["info", "g"],
      ["info", "  in\n  side"],
      ["info", "default: 1"],
      ["warn", "Assertion failed: no"],
      ["info", "{ deep: [Object] }"],
      ["info", "same console"],
    ]);
  });

  test("contains only stack frames of the worker, with paths relative to its folder", async () => {
    await run("trace", `console.trace("here")`);
    const [entry] = appEntries("trace");
    expect(entry).toMatchObject({ level: "debug", text: expect.stringMatching(/^Trace: here\n +at Object\.fetch \(index\.js:1:\d+\)/) });
    expect(entry?.text).not.toMatch(/dist\/|main\.js|runtime:/);
  });

  test("includes direct writes to stdout and stderr", async () => {
    await run("raw", `process.stdout.write("out\\n"); process.stderr.write("err\\n")`);
    await expect
      .poll(() =>
        lines("raw")
          .map(([level, text]) => `${level} ${text}`)
          .toSorted(),
      )
      .toEqual(["error err", "info out"]);
  });

  test("is logged completely when the process exits", async () => {
    await run("last", `console.error("this is the end"); process.exit(7)`);
    await expect
      .poll(() =>
        entriesOf("last")
          .filter(({ source }) => source !== "request")
          .map(({ source, level, text }) => `${source} ${level} ${text}`),
      )
      .toEqual([
        expect.stringMatching(/^runtime info Started in \d+ ms\.$/),
        "app error this is the end",
        "runtime error The isolate ended with status 7.",
      ]);
  });

  test("is logged only in part after 100,000 lines in a loop, and the worker continues", async () => {
    await run("flood", `for (let index = 0; index < 100_000; index += 1) console.log("line " + index)`);
    await expect
      .poll(() => entriesOf("flood").some(({ text }) => text.includes("more entries were dropped")), { timeout: 5000 })
      .toBe(true);
    const dropped = entriesOf("flood").flatMap(({ text }) => /^(\d+) more entries were dropped/.exec(text)?.[1] ?? []);
    expect(dropped.map(Number).reduce((sum, count) => sum + count, 0) + appEntries("flood").length).toBe(100_000);
    expect(entriesOf("flood").filter(({ text }) => text.startsWith("Started"))).toHaveLength(1);
    expect(await server.text("/flood/")).toBe("ok");
  });
});

describe("an uncaught error of a worker", () => {
  const failing = `interface Visit { n: number }\n\n\nexport function fail(visit: Visit): never {\n  throw new Error("broken " + visit.n);\n}\n`;
  const entry = `import { fail } from "./fail";\nexport default { fetch(): Response { return fail({ n: 1 }); } };\n`;

  test.each(["inline", "linked"] as const)("is logged with positions in its source files (source map: %s)", async (sourcemap) => {
    const result = await build({
      stdin: { contents: entry, resolveDir: "/srv/project/src", sourcefile: "/srv/project/src/index.ts", loader: "ts" },
      plugins: [
        {
          name: "memory",
          setup(plugged) {
            plugged.onResolve({ filter: /fail$/ }, () => ({ path: "/srv/project/src/fail.ts", namespace: "file" }));
            plugged.onLoad({ filter: /fail\.ts$/ }, () => ({ contents: failing, loader: "ts" }));
          },
        },
      ],
      absWorkingDir: "/",
      bundle: true,
      minify: true,
      format: "esm",
      write: false,
      sourcemap,
      outfile: "/srv/project/dist/index.js",
    });
    const files = Object.fromEntries(result.outputFiles.map((file) => [`dist/${file.path.split("/").at(-1)}`, file.text]));
    await server.add(`mapped-${sourcemap}`, { files, manifest: { entrypoint: "dist/index.js" } });
    await server.refusal(`/mapped-${sourcemap}/`);
    const [error] = appEntries(`mapped-${sourcemap}`);
    expect(error).toMatchObject({ level: "error", text: expect.stringMatching(/^Error: broken 1\n +at \S+ \(src\/fail\.ts:5:\d+\)/) });
    expect(error?.text).toMatch(/src\/index\.ts:2:/);
  });

  test.each([
    ["rejection", `void Promise.reject(new Error("alone"))`],
    ["timer", `setTimeout(() => { throw new Error("alone") })`],
    ["handler", `throw new Error("alone")`],
    ["background", `arguments[2].waitUntil(Promise.reject(new Error("alone")))`],
  ])("is logged as one entry without absolute paths (source: %s)", async (kind, body) => {
    await run(`uncaught-${kind}`, body);
    await expect.poll(() => appEntries(`uncaught-${kind}`)).toHaveLength(1);
    const [error] = appEntries(`uncaught-${kind}`);
    expect(error).toMatchObject({ level: "error", text: expect.stringMatching(/^Error: alone\n +at .*index\.js:1:/) });
    expect(error?.text).not.toContain(server.directory);
    expect(error?.text).not.toContain("file:");
  });

  test("is logged with its stack trace when it occurs while the code loads", async () => {
    await server.add("unloadable", { files: { "index.js": `\nthrow new TypeError("no config");` } });
    await server.refusal("/unloadable/");
    expect(appEntries("unloadable")[0]).toMatchObject({
      level: "error",
      text: expect.stringMatching(/TypeError: no config\n +at \S+ \(index\.js:2:7\)/),
    });
    expect(entriesOf("unloadable").some(({ source, level }) => source === "runtime" && level === "error")).toBe(true);
  });

  test("appears once in the daemon's log", async () => {
    await run("once", `console.log("only once")`);
    expect(server.log.filter(({ msg }) => msg === "only once")).toHaveLength(1);
  });
});
