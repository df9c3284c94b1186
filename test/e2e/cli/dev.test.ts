import { cp, readdir, stat } from "node:fs/promises";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { writeTree } from "../../support/write-tree.js";
import { DevRun } from "./dev-run.js";

const hono = fileURLToPath(new URL("../../../node_modules/hono", import.meta.url));

const answering = (text: string) => `export default { fetch: () => new Response(${JSON.stringify(text)}) };\n`;
const app = { "manifest.yaml": "name: app\nversion: 1.0.0\n", "index.js": answering("one") };

const honoApp = (text: string) => `import { Hono } from "hono";
import { boom } from "./boom.ts";

const app = new Hono();
app.get("/", (context) => context.text("${text}"));
app.get("/boom", boom);
export default app;
`;

test("`dev` waits for a file change when the code cannot be loaded at the start", async () => {
  const run = await DevRun.forTest({ ...app, "index.js": "export default (" });
  await run.shows("no code is served yet; waiting for a change");
  await run.save("index.js", answering("at last"));
  expect(await run.text()).toBe("at last");
});

test("`dev` names the build command of an unbuilt project, and serves the build", async () => {
  const scripts = { build: "vite build" };
  const packageJson = JSON.stringify({ name: "app", scripts, devDependencies: { vite: "8" } });
  const run = await DevRun.forTest({ "package.json": packageJson, "pnpm-lock.yaml": "" });
  await run.shows("no code is served yet; waiting for a change");
  expect(run.stderr).toContain("error: Vite: the build output does not exist (dist)\nhint: pnpm run build\n");
  await writeTree(run.folder, { "dist/index.html": "<!doctype html>built" });
  expect(await run.text()).toContain("built");
});

test("`dev --bundle` serves TypeScript with npm packages and prints source positions", async () => {
  const run = await DevRun.forTest(
    {
      "manifest.yaml": "name: app\nentrypoint: src/index.ts\n",
      "src/index.ts": honoApp("one"),
      "src/boom.ts":
        "type Text = string;\n\nexport const boom = (): never => {\n  const text: Text = 'a boom';\n  throw new Error(text);\n};\n",
    },
    { words: "app --port 0 --bundle", prepare: (folder) => cp(hono, path.join(folder, "node_modules/hono"), { recursive: true }) },
  );
  expect(await run.text()).toBe("one");
  await run.text("boom");
  await run.shows(/a boom[^]*src\/boom\.ts:5:9/);
  await run.save("src/index.ts", "const x = ;\n");
  await run.shows("src/index.ts:1:11: Unexpected");
  expect(await run.text()).toBe("one");
  await run.save("src/index.ts", honoApp("two"));
  await expect.poll(() => run.text()).toBe("two");
});

test("`dev` reads secrets from .env and .dev.vars, and waits for missing secrets", async () => {
  const run = await DevRun.forTest({
    "manifest.yaml": "name: app\nsecrets: [A, B, { name: C, optional: true }]\n",
    ".env": "A=env\nB=env\n",
    ".dev.vars": "B=dev\n",
    "index.js": "export default { fetch: (_, env) => new Response([env.A, env.B, env.C].join()) };",
  });
  expect(await run.text()).toBe("env,dev,");
  await run.save(".env", "B=env\n");
  await expect.poll(() => run.stderr).toContain(".env and .dev.vars do not set the secrets that the manifest requires: A");
  expect(await run.text()).toBe("env,dev,");
  await run.save(".dev.vars", "A=dev\nB=dev\n");
  await expect.poll(() => run.text()).toBe("dev,dev,");
});

test("`dev` reads variables from .dev.vars and --vars-file, and packs neither file", async () => {
  const run = await DevRun.forTest(
    {
      "manifest.yaml": "name: app\nenv:\n  A: manifest\n  B: manifest\n  C: manifest\n",
      ".dev.vars": 'B="dev vars"\nC=dev\n',
      ".env.local": "C=env file\n",
      "index.js": "export default { fetch: (_, env) => new Response([env.A, env.B, env.C].join()) };",
    },
    { words: "app --port 0 --vars-file app/.env.local" },
  );
  expect(await run.text()).toBe("manifest,dev vars,env file");
  const [directory = ""] = await readdir(path.join(run.home, "tmp"));
  const installed = await readdir(path.join(run.home, "tmp", directory, "workers/app/latest"));
  expect(installed.toSorted()).toEqual([".installed.json", "index.js", "manifest.yaml"]);
  await run.save(".dev.vars", "B=changed\n");
  await expect.poll(() => run.text()).toBe("manifest,changed,env file");
});

test("`dev` serves the new content of a changed page of a static site", async () => {
  const run = await DevRun.forTest({ "manifest.yaml": "name: site\nentrypoint: public/index.html\n", "public/index.html": "<h1>one</h1>" });
  expect(await run.text()).toContain("one");
  await run.save("public/index.html", "<h1>two</h1>");
  await expect.poll(() => run.text()).toContain("two");
});

async function occupy(port: number): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve).once("error", () => resolve()));
  onTestFinished(() => void server.close());
  return (server.address() as { port: number } | null)?.port ?? port;
}

test("`dev` uses and prints the next free port when port 8787 is in use", async () => {
  await occupy(8787);
  const run = await DevRun.forTest(app, { words: "app" });
  const { port } = new URL(await run.url());
  expect(Number(port)).toBeGreaterThan(8787);
  expect(run.stderr).toContain(`port 8787 is in use; using ${port}\n`);
});

test("`dev` exits with 7 when the port in --port is in use", async () => {
  const port = await occupy(0);
  const run = await DevRun.forTest(app, { words: `app --port ${port}` });
  expect(await run.ended).toMatchObject({ status: 7 });
  expect(run.stderr).toContain(`port ${port} is in use by another program`);
});

test.each([
  ["SIGINT", 130, null],
  ["SIGTERM", 143, null],
  ["SIGKILL", null, "SIGKILL"],
] as const)("`dev` stops all its processes and deletes its temporary folder at the signal %s", async (name, status, signal) => {
  const run = await DevRun.forTest({ ...app, "index.js": "export default { fetch: () => { for (;;); } };\n" });
  const url = await run.url();
  void fetch(url).catch(() => {});
  const running = await run.processes();
  expect(running.some((line) => line.includes("dev-daemon"))).toBe(true);
  const [directory = ""] = await readdir(path.join(run.home, "tmp"));
  expect((await stat(path.join(run.home, "tmp", directory))).mode & 0o777).toBe(0o700);
  expect((await stat(path.join(run.home, "tmp", directory, "root.key"))).mode & 0o777).toBe(0o600);
  run.process.kill(name);
  expect(await run.ended).toEqual({ status, signal });
  expect(run.stderr).not.toContain("error:");
  await run.seenToLeaveNothing();
});

test("`dev` deletes its folder if the parent process is killed during a request", async () => {
  const run = await DevRun.forTest(app);
  const { port, hostname } = new URL(await run.url());
  const client = connect(Number(port), hostname);
  onTestFinished(() => void client.destroy());
  const request = `GET /nobody HTTP/1.1\r\nhost: ${hostname}:${port}\r\n\r\n`;
  client.write(request);
  await once(client, "data");
  const daemon = await run.daemonPid();
  // After SIGSTOP and SIGCONT, the daemon first receives the request and then detects that its parent process has exited.
  process.kill(daemon, "SIGSTOP");
  client.write(request);
  run.process.kill("SIGKILL");
  await run.ended;
  process.kill(daemon, "SIGCONT");
  await run.seenToLeaveNothing();
});

test("`dev` reloads when the user types r, and quits when the user types q", async () => {
  const run = await DevRun.forTest(app, { inTerminal: true });
  await run.url();
  await run.shows("keys: r reload");
  run.process.stdin?.write("r");
  await run.shows(/reloaded in \d+ ms/);
  run.process.stdin?.write("q");
  expect(await run.ended).toMatchObject({ status: 0 });
  await run.seenToLeaveNothing();
});

test("`dev` stops its processes and deletes its folder if the user quits in a reload", async () => {
  const run = await DevRun.forTest(
    { ...app, "index.js": honoApp("one").replace(/.*boom.*\n/g, "") },
    {
      words: "app --port 0 --bundle",
      inTerminal: true,
      prepare: (folder) => cp(hono, path.join(folder, "node_modules/hono"), { recursive: true }),
    },
  );
  await run.url();
  await run.shows("keys: r reload");
  run.process.stdin?.write("rq");
  expect(await run.ended).toMatchObject({ status: 0 });
  await run.seenToLeaveNothing();
});

test("`dev` exits with 130 on Ctrl-C in a terminal", async () => {
  const run = await DevRun.forTest(app, { inTerminal: true });
  await run.url();
  run.process.stdin?.write("\u0003");
  expect(await run.ended).toMatchObject({ status: 130 });
  expect(run.stdout).not.toContain("INTERRUPTED");
});

test.each([
  ["a missing folder", "none --port 0", 6, "none does not exist"],
  ["a file", "app/index.js", 6, "app/index.js is not a folder"],
  ["an empty folder", ". --port 0", 1, "has nothing to deploy: no manifest, package.json, index.html or index.js"],
  ["an invalid port", "app --port http", 2, "http is not a port"],
  ["a missing variables file", "app --port 0 --vars-file none", 2, "none does not exist"],
])("`dev` exits with an error for an invalid folder or flag (cause: %s)", async (_, words, status, message) => {
  const run = await DevRun.forTest(app, { words });
  expect(await run.ended).toMatchObject({ status });
  expect(run.stderr).toContain(message);
  expect(run.stdout).toBe("");
});

test("`dev` exits with 1 for a package without a name, even if its files change", async () => {
  const run = await DevRun.forTest({ "manifest.yaml": "env: {}", "index.js": answering("one") });
  const changes = { isOver: false };
  const changing = (async () => {
    while (!changes.isOver) await run.save("index.js", answering("two"));
  })();
  expect(await run.ended).toMatchObject({ status: 1 });
  changes.isOver = true;
  await changing;
});
