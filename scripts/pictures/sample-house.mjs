// A daemon with sample data, for the pictures of the control panel.
import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const bin = fileURLToPath(new URL("../../bin/", import.meta.url));
const run = promisify(execFile);
const rootKey = "root-key-of-the-pictures";
const page = (title) => `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1></html>`;
const answers = `export default {
  fetch(request) {
    console.log("order from", new URL(request.url).searchParams.get("shop"));
    return Response.json({ ok: true });
  },
};`;

const workers = [
  { name: "storefront", version: "2.4.0", "index.js": answers },
  { name: "storefront", version: "2.5.0", "index.js": answers },
  { name: "handbook", version: "1.0.3", "index.html": page("Handbook") },
  { name: "@team/reports", version: "0.9.1", "index.js": answers },
  { name: "@team/reports", version: "1.0.0-rc.1", "index.js": answers },
  { name: "@team/webhooks", version: "3.1.0", "index.js": answers },
  { name: "status", version: "latest", "index.html": page("Status") },
];

const boardPage = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Orders</title>
<style>body { margin: 24px; font: 14px/1.5 system-ui, sans-serif; } td, th { padding: 6px 24px 6px 0; text-align: left; }</style>
<h1>Orders today</h1><table><tr><th>Shop</th><th>Orders</th></tr><tr><td>Leipzig</td><td>128</td></tr><tr><td>Porto</td><td>96</td></tr>
<tr><td>Gdańsk</td><td>71</td></tr></table></html>`;
const plugins = [
  { name: "sessions", version: "1.3.0", "plugin.js": "export default { onRequest() {} };" },
  {
    name: "@team/orders",
    version: "0.4.2",
    more: "base: /orders\ndependencies: [sessions]\nentrypoint: page/index.html\nmenus:\n  - { title: Orders, icon: chart, path: /orders/ }\n",
    "plugin.js": "export default {};",
    "page/index.html": boardPage,
  },
  { name: "mailer", version: "2.0.0", more: "dependencies: [templates]\n", "plugin.js": "export default {};" },
];

const keys = [
  { name: "ci-deploy", role: "editor", expiresIn: "90d" },
  { name: "ada", role: "admin", expiresIn: "1y" },
  { name: "grafana", role: "viewer", expiresIn: "never" },
  { name: "reports-nightly", role: "custom", permissions: ["workers:read", "workers:restart"], namespaces: ["@team"], expiresIn: "10d" },
];

/** Starts a daemon in a temporary folder and adds the sample data. The caller must close the daemon. */
export async function openSampleHouse() {
  const directory = await mkdtemp(path.join(tmpdir(), "runtimed-pictures-"));
  const { url, daemon } = await start(directory);
  const close = async () => {
    const exited = new Promise((resolve) => daemon.once("exit", resolve));
    daemon.kill("SIGTERM");
    await exited;
    await rm(directory, { recursive: true, force: true });
  };
  try {
    for (const worker of workers) await upload({ directory, url, noun: "workers" }, worker);
    for (const plugin of plugins) await upload({ directory, url, noun: "plugins" }, plugin);
    for (const key of keys) await send(`${url}/api/keys`, key);
    for (const shop of ["leipzig", "porto", "gdansk", "porto"]) await (await fetch(`${url}/storefront/?shop=${shop}`)).text();
    return { url, rootKey, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function start(directory) {
  const daemon = spawn(process.execPath, [path.join(bin, "runtimed.js")], {
    cwd: directory,
    stdio: ["ignore", "pipe", "inherit"],
    env: { PATH: process.env.PATH, HOST: "127.0.0.1", PORT: "0", RUNTIME_ROOT_KEY: rootKey },
  });
  const url = await new Promise((resolve, reject) => {
    let output = "";
    daemon.stdout.on("data", (chunk) => {
      output += chunk;
      const address = /"address":"(http:[^"]+)"/.exec(output)?.[1];
      if (address !== undefined) resolve(address);
    });
    daemon.once("exit", () => reject(new Error(`the daemon ended:\n${output}`)));
  });
  return { url, daemon };
}

async function upload({ directory, url, noun }, { name, version, more = "", ...files }) {
  const folder = path.join(directory, "packages", name, version);
  for (const [file, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), content);
  }
  await writeFile(path.join(folder, "manifest.yaml"), `name: "${name}"\nversion: ${version}\n${more}`);
  const env = { PATH: process.env.PATH, RUNTIMECTL_URL: url, RUNTIMECTL_KEY: rootKey, RUNTIMECTL_CONFIG_DIR: path.join(directory, "ctl") };
  // Accepts the failure of the command: one of the plugins cannot be loaded, so that the pictures show a failed plugin.
  await run(process.execPath, [path.join(bin, "runtimectl.js"), noun, "upload", folder], { env }).catch((error) => {
    if (error.code !== 1 || noun !== "plugins") throw error;
  });
}

async function send(url, body) {
  const headers = { "content-type": "application/json", "x-api-key": rootKey, origin: new URL(url).origin };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url}: ${await response.text()}`);
}
