// Bundles the command line into two scripts with a code cache beside each, and its reference for the docs.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { inkInScript } from "./ink-in-script.mjs";
import { readyContracts } from "./ready-contracts.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * What bundled packages load and runtimectl never uses, each a noticeable part of an empty Node's start, by importer and module:
 * commander runs subcommands as child processes, ours are none; undici loads an HTTP/2 client that is off, the form data of fetch,
 * node:assert for its own checks, and its parser a second time for processors without SIMD, on which Node 20 does not run. env-paths
 * imports what is global anyway; esbuild would copy all its properties into a module. zod has its messages in fifty languages.
 */
const unused = [
  { importer: /\/zod\//, module: /locales\/index/, contents: "export {};" },
  { importer: /\/env-paths\//, module: /^node:process$/, contents: "export default process;" },
  { importer: /\/commander\//, module: /^node:child_process$/, contents: "module.exports = {};" },
  { importer: /\/undici\//, module: /client-h2/, contents: "module.exports = undefined;" },
  { importer: /\/undici\//, module: /web\/fetch\/body/, contents: "module.exports = undefined;" },
  { importer: /\/undici\//, module: /llhttp-wasm/, contents: "throw new Error('WebAssembly without SIMD');" },
  {
    importer: /\/undici\//,
    module: /^node:assert$/,
    contents: "module.exports = (holds, message) => { if (!holds) throw new Error(message ?? 'assertion failed'); };",
  },
];
const withoutUnused = {
  name: "without-unused",
  setup(plugin) {
    const namespace = "without-unused";
    plugin.onResolve({ filter: /./ }, ({ importer, path: module }) => {
      const index = unused.findIndex((entry) => entry.importer.test(importer) && entry.module.test(module));
      return index === -1 ? undefined : { path: String(index), namespace };
    });
    plugin.onLoad({ filter: /./, namespace }, ({ path: index }) => ({ contents: unused[Number(index)].contents }));
  },
};

/** Of package.json the version is all that is read; to build the rest as an object takes V8 a while. */
const onlyVersion = {
  name: "only-version",
  setup(plugin) {
    plugin.onLoad({ filter: /[\\/]package\.json$/ }, async ({ path: file }) => {
      const { version } = JSON.parse(await readFile(file, "utf8"));
      return { contents: JSON.stringify({ version }), loader: "json" };
    });
  },
};

/** Packages that few commands need: each a file of its own, so that the others need not read them. */
const packagesApart = [
  "@inquirer/prompts",
  "commander",
  "ignore",
  "ora",
  "semver",
  "tar",
  "undici/lib/dispatcher/client.js",
  "write-file-atomic",
  "yaml",
  "yauzl",
];
const fileOf = (name) => `${name.replace("@", "").replaceAll("/", "-").replace(/\.js$/, "")}.cjs`;
const leaveApart = (packages) => ({
  name: "packages-apart",
  setup(plugin) {
    plugin.onResolve({ filter: /^[@a-z]/ }, ({ path: name }) =>
      packages.includes(name) ? { path: `./${fileOf(name)}`, external: true } : undefined,
    );
  },
});
const apart = leaveApart(packagesApart);
/** Quick commands need it for a configuration that is not plain, and for no answer. */
const zodApart = leaveApart(["zod/mini"]);

/** Entries of the bundles that run commands, all of them or those of src/cli/quick-commands.ts, with what makes each small. */
const machinery = { "run-any-command": [], "run-quick-command": [readyContracts, zodApart] };

/** What draws the dashboard is in the bundle of the dashboard only; the others just know its command. */
const withoutDashboard = {
  name: "without-dashboard",
  setup(plugin) {
    plugin.onResolve({ filter: /open-dashboard\.js$/ }, ({ path: module }) => ({ path: module, external: true }));
  },
};

export async function buildCli(outputDirectory) {
  const bundle = {
    absWorkingDir: root,
    bundle: true,
    minify: true,
    charset: "ascii",
    platform: "node",
    target: "node20.19",
    // A program of its own beside the JavaScript; loaded by what bundles a worker, and by nothing else.
    external: ["esbuild"],
    logLevel: "warning",
  };
  const script = {
    ...bundle,
    outdir: outputDirectory,
    outExtension: { ".js": ".cjs" },
    format: "cjs",
    // A script that is loaded from a code cache has no import() of its own.
    supported: { "dynamic-import": false },
    banner: { js: "(function (module, require, __dirname) {" },
    footer: { js: "})" },
  };
  for (const [name, plugins] of Object.entries(machinery))
    await build({
      ...script,
      entryPoints: [`src/cli/${name}.ts`],
      define: { "import.meta.dirname": "__dirname" },
      plugins: [withoutUnused, onlyVersion, apart, withoutDashboard, ...plugins],
    });
  await build({
    ...script,
    entryPoints: ["src/cli/run-dashboard.ts"],
    define: {
      "import.meta.dirname": "__dirname",
      "import.meta.url": "undefined",
      "process.env.NODE_ENV": '"production"',
      "Intl.Segmenter": "Graphemes",
    },
    inject: ["src/cli/tui/graphemes.ts"],
    plugins: [withoutUnused, onlyVersion, apart, inkInScript],
  });
  await build({
    ...bundle,
    entryPoints: ["src/cli/main.ts"],
    outfile: path.join(outputDirectory, "main.cjs"),
    format: "cjs",
    define: { "import.meta.dirname": "__dirname" },
  });
  await build({
    ...bundle,
    entryPoints: ["src/cli/reference.ts"],
    outfile: path.join(outputDirectory, "reference.js"),
    format: "esm",
    plugins: [withoutDashboard],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  for (const name of [...packagesApart, "zod/mini"])
    await build({
      ...bundle,
      // A default export stands alone, as Node has it for CommonJS.
      stdin: {
        contents: `const all = require(${JSON.stringify(name)}); module.exports = all.__esModule && all.default || all;`,
        resolveDir: root,
      },
      outfile: path.join(outputDirectory, fileOf(name)),
      format: "cjs",
      plugins: [withoutUnused],
      define: { "import.meta.url": "bundleUrl" },
      banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
    });
  await writeCodeCaches(outputDirectory, {
    "run-any-command": "workers list",
    "run-quick-command": "workers list",
    "run-dashboard": "tui",
  });
}

/** What a daemon with one worker says, as far as the commands below ask. */
const worker = { name: "a", path: "/a", removable: true, source: "uploaded", versions: ["1.0.0"], disabledVersions: [] };
const principal = { id: 0, name: "root", keyPrefix: "a", role: "admin", permissions: [], namespaces: ["*"] };
const activity = {
  requests: { total: 0, perSecond: 0, inFlight: 0, queued: 0, byStatus: { "1xx": 0, "2xx": 0, "3xx": 0, "4xx": 0, "5xx": 0, aborted: 0 } },
  errors: { total: 0, byCode: {} },
  isolates: { running: 0, starting: 0, draining: 0 },
  memory: { rssBytes: 0, pssBytes: 0 },
  cpuSeconds: 0,
  requestBodyBytes: 0,
  answerBodyBytes: 0,
  openSockets: 0,
};
const eventLoopLag = { p50Ms: 0, p99Ms: 0, maximumMs: 0 };
const answers = {
  "/.well-known/runtime": { name: "runtimed", api: "/api", version: "1", cpanel: "/cpanel", docs: "/docs" },
  "/api/admin/session": { authenticated: true, principal },
  "/api/health/ready": { ok: true, status: "ready", version: "1" },
  "/api/workers": [worker],
  "/api/plugins": [],
  "/api/metrics.json": { daemon: { version: "1", startedAt: 0, uptimeSeconds: 0, eventLoopLag }, totals: activity, workers: [] },
};

/** Lets each bundle run a command once, signed in to a stand-in for the daemon, and keeps what V8 compiled for it. */
async function writeCodeCaches(outputDirectory, commands) {
  const server = createServer(({ url }, response) =>
    response.setHeader("content-type", "application/json").end(JSON.stringify(answers[url.split("?")[0]] ?? null)),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${server.address().port}`;
  const directory = await mkdtemp(path.join(tmpdir(), "runtimectl-build-"));
  const credentials = { profiles: { default: { origin, key: "none", api: "/api" } } };
  await writeFile(path.join(directory, "config.yaml"), `profiles:\n  default:\n    url: ${origin}\ncurrent: default\n`);
  await writeFile(path.join(directory, "credentials.json"), JSON.stringify(credentials), { mode: 0o600 });
  for (const [name, words] of Object.entries(commands)) {
    const file = path.join(outputDirectory, `${name}.cjs`);
    const child = spawn(process.execPath, [path.join(root, "scripts/write-code-cache.cjs"), file, ...words.split(" ")], {
      env: { RUNTIMECTL_CONFIG_DIR: directory },
      stdio: ["ignore", "ignore", "inherit"],
    });
    const [exitCode] = await once(child, "exit");
    if (exitCode !== 0) throw new Error(`the code cache of ${file} could not be made (${exitCode})`);
  }
  server.close().closeAllConnections();
  await rm(directory, { recursive: true, force: true });
}
