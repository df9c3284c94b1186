// Checks the published package: packs it, installs it globally without a compiler, deploys a worker, and uses the panel and the exports.
// Run it with `npm run release:check`. It needs the npm registry.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { emptyMachine, npmProgram } from "./release-check/environment.mjs";
import { diskBytes, installedPackages } from "./release-check/installation.mjs";

const mostPackages = 40;
const mostInstalledMegabytes = 95;
const oldestNode = 24;
const startTimeoutMs = 60_000;
const stopTimeoutMs = 30_000;
const rootKey = "root-key-of-the-release-check";

const root = fileURLToPath(new URL("..", import.meta.url));
const run = promisify(execFile);
const directory = await realpath(await mkdtemp(path.join(tmpdir(), "release-check-")));
const prefix = path.join(directory, "prefix");
const programs = path.join(prefix, "bin");
const modules = path.join(prefix, "lib/node_modules");
let daemon;
try {
  assert.ok(Number.parseInt(process.versions.node, 10) >= oldestNode, `Node ${oldestNode} is needed, this is ${process.version}`);
  const npm = npmProgram();
  const env = await emptyMachine(directory);
  const archive = await step("pack", () => pack(npm));
  await step("install", () => install(npm, archive, env));
  await step("load the packages beside the bundles", () => loadNativePackages(env));
  const url = await step("start runtimed", () => start(env));
  await step("deploy a folder", () => deploy(url, env));
  await step("open the panel", () => openPanel(url));
  await step("import the exports", () => importExports(url, env));
  await step("stop runtimed", () => stop());
} finally {
  daemon?.kill("SIGKILL");
  await rm(directory, { recursive: true, force: true });
}

/** Runs one step. Prints its duration and the figures that it returns. */
async function step(name, act) {
  const startedAtMs = performance.now();
  const { figures = "", value } = await act();
  console.log(`${((performance.now() - startedAtMs) / 1000).toFixed(1).padStart(6)} s  ${name}${figures && `: ${figures}`}`);
  return value;
}

async function pack(npm) {
  const { stdout } = await run(process.execPath, [npm, "pack", "--json", "--pack-destination", directory], {
    cwd: root,
    maxBuffer: 2 ** 26,
  });
  const [packed] = JSON.parse(stdout.slice(stdout.search(/^\[/m)));
  const files = packed.files.map((file) => file.path);
  assert.deepEqual(
    files.filter((file) => file.endsWith(".map")),
    [],
    "the package contains source maps",
  );
  for (const file of ["LICENSE", "README.md", "CHANGELOG.md", "bin/runtimed.js", "dist/client/index.d.ts", "dist/plugin/index.d.ts"])
    assert.ok(files.includes(file), `the package lacks ${file}`);
  return { value: path.join(directory, packed.filename), figures: `${files.length} files, ${megabytes(packed.size)} MB packed` };
}

async function install(npm, archive, env) {
  await run(process.execPath, [npm, "install", "--global", "--prefix", prefix, archive], { cwd: directory, env });
  const packages = await installedPackages(modules);
  const size = megabytes(await diskBytes(prefix));
  const figures = `${packages.length} packages (at most ${mostPackages}), ${size} MB (at most ${mostInstalledMegabytes})`;
  assert.ok(packages.length <= mostPackages && size <= mostInstalledMegabytes, `the installation is too large: ${figures}`);
  return { figures };
}

/**
 * Loads the packages with native code. The start of the daemon is no proof that they load, because the daemon also starts without some of
 * them.
 */
async function loadNativePackages(env) {
  const code = `
    const Database = require("better-sqlite3");
    new Database(":memory:").prepare("select 1").get();
    require("libsql");
    require("koffi").load(null);
    require("esbuild").transformSync("let one: number = 1", { loader: "ts" });`;
  await run(process.execPath, ["-e", code], { cwd: path.join(modules, "runtimectl"), env });
  return {};
}

async function start(env) {
  const state = path.join(directory, "state");
  daemon = spawn(path.join(programs, "runtimed"), [], {
    cwd: directory,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...env,
      HOST: "127.0.0.1",
      PORT: "0",
      RUNTIME_ROOT_KEY: rootKey,
      RUNTIME_STATE_DIR: state,
      RUNTIME_WORKER_DIRS: path.join(state, "workers"),
      RUNTIME_PLUGIN_DIRS: path.join(state, "plugins"),
    },
  });
  let output = "";
  const { promise, resolve, reject } = Promise.withResolvers();
  const fail = (reason) => reject(new Error(`runtimed ${reason}:\n${output}`));
  const timer = setTimeout(() => fail(`did not listen within ${startTimeoutMs} ms`), startTimeoutMs);
  const read = (chunk) => {
    output += chunk;
    const address = /"address":"(http:[^"]+)".*\n/.exec(output)?.[1];
    if (address !== undefined) resolve(address);
  };
  daemon.stdout.on("data", read);
  daemon.stderr.on("data", read);
  daemon.once("error", reject);
  daemon.once("exit", (code) => fail(`ended with ${code}`));
  const value = await promise.finally(() => clearTimeout(timer));
  return { value, figures: value };
}

async function deploy(url, env) {
  const sample = path.join(directory, "hello");
  await cp(path.join(root, "samples/hello"), sample, { recursive: true });
  const keyFile = path.join(directory, "root.key");
  await writeFile(keyFile, rootKey, { mode: 0o600 });
  const runtimectl = (...args) => run(path.join(programs, "runtimectl"), args, { cwd: directory, env });
  await runtimectl("auth", "login", "--url", url, "--key-file", keyFile);
  await runtimectl("deploy", sample);
  await runtimectl("deploy", sample, "--bundle", "--version", "1.1.0");
  const { stdout } = await runtimectl("workers", "list", "--json");
  assert.match(stdout, /"hello"/);
  assert.equal(await textOf(`${url}/hello/?name=you`), "Hello, you!\n");
  return { figures: "hello 1.0.0, and 1.1.0 as a bundle" };
}

async function openPanel(url) {
  const page = await textOf(`${url}/cpanel/`);
  const script = /<script[^>]+src="([^"]+)"/.exec(page)?.[1];
  assert.ok(script, "the panel's page has no script");
  await textOf(new URL(script, `${url}/cpanel/`));
  await textOf(`${url}/api/docs`);
  return {};
}

/** Imports the exports of the installed package in a project that depends on the package. */
async function importExports(url, env) {
  const project = path.join(directory, "project");
  await mkdir(path.join(project, "node_modules"), { recursive: true });
  await symlink(path.join(modules, "runtimectl"), path.join(project, "node_modules/runtimectl"));
  const code = `
    import { connect } from "runtimectl/client";
    import { definePlugin, fromNodeHandler } from "runtimectl/plugin";
    const workers = await connect({ url: ${JSON.stringify(url)}, key: ${JSON.stringify(rootKey)} }).workers.list();
    definePlugin({ routes: fromNodeHandler(() => {}) });
    console.log(workers.find(({ name }) => name === "hello").versions.join());`;
  await writeFile(path.join(project, "program.mjs"), code);
  const { stdout } = await run(process.execPath, [path.join(project, "program.mjs")], { cwd: project, env });
  assert.equal(stdout, "1.1.0,1.0.0\n");
  return {};
}

async function stop() {
  const exited = once(daemon, "exit", { signal: AbortSignal.timeout(stopTimeoutMs) });
  daemon.kill("SIGTERM");
  const [code] = await exited;
  assert.equal(code, 0, "runtimed ended with a failure");
  return {};
}

async function textOf(url) {
  const response = await fetch(url);
  assert.equal(response.status, 200, `${url} is served with status ${response.status}`);
  return response.text();
}

/** Formats bytes as megabytes with one decimal. A megabyte is 1,000,000 bytes. */
function megabytes(bytes) {
  return Math.round(bytes / 100_000) / 10;
}
