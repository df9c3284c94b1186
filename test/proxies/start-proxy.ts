import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { freePort } from "../support/free-port.js";
import { runServer } from "./run-server.js";
import type { AcmeServer } from "./start-pebble.js";

const samples = new URL("../../builtin/proxy/", import.meta.url);
const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}.pem`, import.meta.url));

/** Line of the log of nginx for each new worker process, also after a reload. */
const startedWorker = /start worker process \d+/;

/** Starts a proxy with TLS in front of these ports of 127.0.0.1 until the test ends. Returns its origin. */
export type StartProxy = (ports: readonly number[]) => Promise<string>;

/** Reads a shipped sample and replaces its machine-specific parts. Each part must exist. */
async function fillIn(sample: string, replacements: readonly (readonly [part: string, replacement: string])[]): Promise<string> {
  let text = await readFile(new URL(sample, samples), "utf8");
  for (const [part, replacement] of replacements) {
    if (!text.includes(part)) throw new Error(`${sample} has no "${part}"`);
    text = text.replaceAll(part, replacement);
  }
  return text;
}

/** A running nginx. */
export interface NginxServer {
  /** Origin with https. */
  readonly url: string;
  /** Sends new requests only to these ports. Requests in flight continue. Resolves when nginx uses the new configuration. */
  readonly route: (ports: readonly number[]) => Promise<void>;
  /** Sends SIGKILL to all processes of nginx and waits for the end of the main process. */
  readonly kill: () => Promise<void>;
  /** Starts nginx after `kill`. */
  readonly start: () => Promise<void>;
}

export const startNginx: StartProxy = async (ports) => (await startNginxServer(ports)).url;

/** Starts nginx as `startNginx` does. */
export async function startNginxServer(ports: readonly number[]): Promise<NginxServer> {
  const directory = await temporaryDirectory();
  const [port, plainPort] = [await freePort(), await freePort()];
  const writeSite = async (upstreams: readonly number[]) => {
    const site = await fillIn("nginx.conf", [
      ["server 127.0.0.1:8000 fail_timeout=2s;", upstreams.map((upstream) => `server 127.0.0.1:${upstream} fail_timeout=2s;`).join("\n")],
      ["listen 80;", `listen 127.0.0.1:${plainPort};`],
      ["listen 443 ssl http2;", `listen 127.0.0.1:${port} ssl http2;`],
      ["server_name apps.example.org *.apps.example.org panel.example.org;", "server_name _;"],
      ["/etc/letsencrypt/live/apps.example.org/fullchain.pem", fixture("certificate")],
      ["/etc/letsencrypt/live/apps.example.org/privkey.pem", fixture("key")],
    ]);
    await writeFile(path.join(directory, "site.conf"), site);
  };
  const folders = ["client_body", "proxy", "fastcgi", "scgi", "uwsgi"];
  await Promise.all(folders.map((folder) => mkdir(path.join(directory, folder))));
  const main = [
    // As root, nginx would run its workers as a user that cannot enter the test's folder.
    process.getuid?.() === 0 ? "user root;" : "",
    "daemon off; worker_processes 1; pid nginx.pid; error_log stderr notice;",
    "events { worker_connections 4096; }",
    `http { access_log off; ${folders.map((folder) => `${folder}_temp_path ${folder};`).join(" ")} include site.conf; }`,
  ];
  await writeSite(ports);
  await writeFile(path.join(directory, "nginx.conf"), main.join("\n"));
  const args = ["-p", `${directory}/`, "-c", "nginx.conf", "-e", "stderr"];
  const run = () => runServer("nginx", args, { ready: startedWorker, cwd: directory });
  let server = await run();
  return {
    url: `https://127.0.0.1:${port}`,
    route: async (upstreams) => {
      await writeSite(upstreams);
      const countStarts = () => server.output().split(startedWorker).length;
      const startsBefore = countStarts();
      server.reload();
      await expect.poll(countStarts).toBeGreaterThan(startsBefore);
    },
    kill: () => server.kill(),
    start: async () => {
      server = await run();
    },
  };
}

/** The site of the shipped Caddyfile that has the daemon's own host names. */
const ownSite = "apps.example.org, panel.example.org {";

export const startCaddy: StartProxy = async (ports) => {
  const port = await freePort();
  await runCaddy(ports, { port, replacements: [[ownSite, `https://127.0.0.1 {\n\ttls ${fixture("certificate")} ${fixture("key")}`]] });
  return `https://127.0.0.1:${port}`;
};

/**
 * Starts Caddy with the shipped Caddyfile, which gets certificates from this server. Returns its port. Caddy 2.6 writes its account file
 * twice at once, and damages it, if it requests two certificates before it has an account. So it starts with one of its own host names, and
 * is ready when it has the certificate.
 */
export async function startCaddyWithAcme(upstream: number, { directory, authority }: AcmeServer): Promise<number> {
  const port = await freePort();
  await runCaddy([upstream], {
    port,
    replacements: [[ownSite, "panel.example.org {"]],
    options: [`acme_ca ${directory}`, `acme_ca_root ${authority}`],
    ready: /certificate obtained successfully/,
  });
  return port;
}

interface CaddyOptions {
  readonly port: number;
  readonly replacements?: readonly (readonly [part: string, replacement: string])[];
  readonly options?: readonly string[];
  readonly ready?: RegExp;
}

async function runCaddy(
  ports: readonly number[],
  { port, replacements = [], options = [], ready = /serving initial configuration/ }: CaddyOptions,
): Promise<void> {
  const directory = await temporaryDirectory();
  const plainPort = await freePort();
  const ownOptions = ["admin off", "default_bind 127.0.0.1", `https_port ${port}`, `http_port ${plainPort}`, ...options];
  const site = await fillIn("Caddyfile", [
    ...replacements,
    ["on_demand_tls {", `${ownOptions.join("\n\t")}\n\ton_demand_tls {`],
    ["ask http://127.0.0.1:8000", `ask http://127.0.0.1:${ports[0]}`],
    ["reverse_proxy 127.0.0.1:8000", `reverse_proxy ${ports.map((upstream) => `127.0.0.1:${upstream}`).join(" ")}`],
  ]);
  const file = path.join(directory, "Caddyfile");
  await writeFile(file, site);
  await runServer("caddy", ["run", "--adapter", "caddyfile", "--config", file], { ready, cwd: directory });
}
