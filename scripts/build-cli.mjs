// Bundles the command line into one script with a code cache beside it, and its reference for the docs.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

/** commander can run subcommands that are programs of their own; ours are not, and child processes cost a tenth of an empty Node's start. */
const withoutChildProcesses = {
  name: "without-child-processes",
  setup(plugin) {
    plugin.onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      importer.includes("/commander/") ? { path: "unused", namespace: "without-child-processes" } : undefined,
    );
    plugin.onLoad({ filter: /./, namespace: "without-child-processes" }, () => ({ contents: "module.exports = {};" }));
  },
};

/** undici loads its HTTP/2 client with its HTTP/1 client, and HTTP/2 costs a quarter of an empty Node's start. It is never asked for (allowH2 is off). */
const withoutHttp2 = {
  name: "without-http2",
  setup(plugin) {
    plugin.onLoad({ filter: /undici\/lib\/dispatcher\/client-h2\.js$/ }, () => ({ contents: "module.exports = undefined;" }));
  },
};

/** Packages that few commands need: each a file of its own, so that the others need not read them. */
const packagesApart = ["@inquirer/prompts", "archiver", "ignore", "ora", "tar", "write-file-atomic"];
const fileOf = (name) => `${name.replace("@", "").replace("/", "-")}.cjs`;
const apart = {
  name: "packages-apart",
  setup(plugin) {
    plugin.onResolve({ filter: /^[@a-z]/ }, ({ path: name }) =>
      packagesApart.includes(name) ? { path: `./${fileOf(name)}`, external: true } : undefined,
    );
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
    logLevel: "warning",
  };
  await build({
    ...bundle,
    entryPoints: ["src/cli/run-command.ts"],
    outfile: path.join(outputDirectory, "runtimectl.cjs"),
    format: "cjs",
    define: { "import.meta.url": "bundleUrl" },
    // A script that is loaded from a code cache has no import() of its own.
    supported: { "dynamic-import": false },
    plugins: [withoutHttp2, withoutChildProcesses, apart],
    banner: { js: "(function (module, require, __filename) {const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
    footer: { js: "})" },
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
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  for (const name of packagesApart)
    await build({
      ...bundle,
      // A default export stands alone, as Node has it for CommonJS.
      stdin: {
        contents: `const all = require(${JSON.stringify(name)}); module.exports = all.__esModule && all.default || all;`,
        resolveDir: root,
      },
      outfile: path.join(outputDirectory, fileOf(name)),
      format: "cjs",
      define: { "import.meta.url": "bundleUrl" },
      banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
    });
  await writeCodeCache(outputDirectory);
}

/** Lets a command run once against a stand-in for the daemon, and keeps what V8 compiled for it. */
async function writeCodeCache(outputDirectory) {
  const server = createServer((request, response) => {
    const answer =
      request.url === "/api/workers" ? [] : { name: "runtimed", api: "/api", version: "0.0.0", cpanel: "/cpanel/", docs: "/api/docs" };
    response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${server.address().port}`;
  const child = spawn(process.execPath, [path.join(root, "scripts/write-code-cache.cjs"), outputDirectory, "workers", "list", "--json"], {
    env: { RUNTIMECTL_URL: url, RUNTIMECTL_KEY: "none", RUNTIMECTL_CONFIG_DIR: path.join(outputDirectory, "none") },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [exitCode] = await once(child, "exit");
  server.close();
  if (exitCode !== 0) throw new Error(`the code cache of runtimectl could not be made (${exitCode})`);
}
