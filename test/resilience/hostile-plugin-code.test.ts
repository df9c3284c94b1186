import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "../support/connect.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { writeTree } from "../support/write-tree.js";

/** Uncaught errors, most of them without a line of the plugin in the stack. */
const strayErrors = `
  import { readFile } from "node:fs/promises";
  import { get } from "node:http";
  import { connect } from "node:net";
  const stray = [
    () => { throw new Error("an error"); },
    () => { throw "a text"; },
    () => { throw null; },
    () => { throw Object.defineProperty(new Error(), "stack", { get() { throw new Error("a trap"); } }); },
    () => { Promise.reject("a text"); },
    () => { Promise.reject(); },
    () => { fetch("http://127.0.0.1:1/"); },
    () => { new Response("{").json(); },
    () => { readFile("/nowhere"); },
    () => { connect(1, "127.0.0.1"); },
    () => { get("http://127.0.0.1:1/"); },
  ];
  for (const begin of stray) setTimeout(begin, 10);
`;

async function daemonWith(plugins: Record<string, string>): Promise<TestDaemon> {
  const directory = await temporaryDirectory();
  for (const [name, code] of Object.entries(plugins)) {
    await writeTree(path.join(directory, "plugins", name), {
      "manifest.yaml": `name: ${name}\nbase: /${name}\n`,
      "plugin.js": code,
    });
  }
  const daemon = await startDaemon({ directory });
  onTestFinished(() => daemon.dispose());
  return daemon;
}

const beside = "export default { routes: { fetch: () => new Response('unaffected') } };";

test("the daemon continues after an uncaught error of a loaded or deleted plugin", async () => {
  const daemon = await daemonWith({
    beside,
    stray: `${strayErrors}
      await new Promise((resolve) => setTimeout(resolve, 300));
      setTimeout(() => { throw "late"; }, 1000);
      export default {};`,
  });
  await connect(daemon.url, daemon.rootKey).plugins.remove({ params: { name: "stray" } });
  await setTimeout(1200);
  expect(await (await fetch(`${daemon.url}/beside/`)).text()).toBe("unaffected");
  expect(daemon.process.exitCode).toBeNull();
  expect(daemon.output().match(/plugin failed outside of its hooks/g)).toHaveLength(12);
});

test("the daemon starts when a plugin throws an error whose stack is not text", async () => {
  const trap = `Object.defineProperty(new Error("x"), "stack", { get() { throw new Error("a trap"); } })`;
  const daemon = await daemonWith({
    beside,
    thrown: "throw Object.create(null);",
    open: `export default { onRequestFailOpen: true, onRequest() { throw ${trap}; }, onResponse() { throw ${trap}; } };`,
  });
  expect(await (await fetch(`${daemon.url}/beside/`)).text()).toBe("unaffected");
  const listed = await connect(daemon.url, daemon.rootKey).plugins.list();
  expect(listed.find(({ name }) => name === "thrown")).toMatchObject({ status: "failed" });
});

test("a plugin can use the class Request that it stored while its module was loaded", async () => {
  const daemon = await daemonWith({
    beside,
    keeper: `
      const Kept = globalThis.Request;
      export default {
        onRequest: (request) => new Kept(request, { headers: { "x-kept": "yes" } }),
        routes: { fetch: async (request) => new Response(request.headers.get("x-kept") + (request instanceof Kept)) },
      };`,
  });
  expect(await (await fetch(`${daemon.url}/keeper/`)).text()).toBe("yestrue");
});
