import { chmod, readFile, stat } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession } from "./shell-session.js";

let daemon: TestDaemon;
let shell: ShellSession;
const servers: Server[] = [];

beforeAll(async () => {
  [daemon, shell] = await Promise.all([startDaemon({ env: { RUNTIME_API_PREFIX: "/_" } }), ShellSession.open()]);
  await writeTree(shell.home, { "root.key": daemon.rootKey });
  await chmod(path.join(shell.home, "root.key"), 0o600);
  await shell.run(`auth login --url ${daemon.url} --key-file root.key`);
});

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

afterAll(async () => {
  await daemon?.dispose();
  await shell?.close();
});

interface Report {
  readonly ok: boolean;
  readonly findings: readonly { readonly check: string; readonly status: string; readonly message: string; readonly hint?: string }[];
}

async function examine(words = "", env: Readonly<Record<string, string>> = {}) {
  const run = await shell.run(`doctor --json ${words}`, { env });
  const report = JSON.parse(run.stdout) as Report;
  for (const { status, hint, check } of report.findings) expect(hint === undefined, check).toBe(status === "ok");
  expect(report.ok).toBe(run.status === 0);
  return { status: run.status, of: (check: string) => report.findings.find((finding) => finding.check === check), report };
}

async function serve(server: Server): Promise<number> {
  servers.push(server.listen(0, "127.0.0.1"));
  await new Promise((resolve) => server.once("listening", resolve));
  return (server.address() as AddressInfo).port;
}

/** Responds like a daemon wherever `own` does not end the response. */
const almostDaemon = (own: RequestListener): RequestListener => {
  return (request, response) => {
    response.setHeader("content-type", "application/json");
    own(request, response);
    if (response.writableEnded) return;
    if (request.url === "/.well-known/runtime")
      response.end(JSON.stringify({ name: "runtimed", api: "/api", version: "0.0.1", cpanel: "/cpanel/", docs: "/api/docs" }));
    else if (request.url === "/api/health/ready") response.end('{"ok":true,"status":"ready","version":"0.0.1"}');
    else if (request.method === "DELETE") response.writeHead(204).end();
    else response.writeHead(401).end('{"error":{"code":"AUTH_REQUIRED","message":"no"}}');
  };
};

const fixture = (name: string) => fileURLToPath(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url));

test("doctor exits with 0 and prints no failed check when all checks pass", async () => {
  const { status, report } = await examine();
  expect(status).toBe(0);
  expect(report.findings.map(({ check, status: result }) => `${check} ${result}`)).toEqual([
    "node ok",
    "folder ok",
    "config ok",
    "credentials ok",
    "settings ok",
    "tcp ok",
    "tls ok",
    "discovery ok",
    "versions ok",
    "clock ok",
    "api ok",
    // Other users cannot read the daemon's folder.
    "isolation:own-user warn",
    "isolation:landlock ok",
    "isolation:seccomp ok",
    "isolation:frozen-flags ok",
    "isolation:permission-model ok",
    "secrets-key ok",
    "origin ok",
    "key ok",
  ]);
  const keyFile = path.join(daemon.directory, "state", "secrets.key");
  expect(report.findings.find(({ check }) => check === "secrets-key")?.message).toBe(`none yet; the first secret creates ${keyFile}`);
  await shell.run("secrets set app TOKEN", { input: "x" });
  await chmod(keyFile, 0o640);
  expect((await examine()).of("secrets-key")).toMatchObject({
    status: "warn",
    message: `other users can access ${keyFile}: chmod 600 ${keyFile}`,
  });
  await chmod(keyFile, 0o600);
  expect((await examine()).of("secrets-key")).toMatchObject({ status: "ok", message: expect.stringContaining(`file ${keyFile}, key `) });
  const lines = (await shell.run("doctor", { isTerminal: true })).stdout;
  expect(lines).toContain("API path /_/api");
  expect((await shell.run("doctor")).stdout).toMatch(/^ok\tnode\t/);
});

test("doctor reports an unreachable daemon and an unknown host name with a hint", async () => {
  const nothing = await examine("--url http://127.0.0.1:1");
  expect(nothing.status).toBe(1);
  expect(nothing.of("tcp")).toMatchObject({ status: "fail", hint: "check that runtimed is running and that the port is correct" });
  expect(nothing.of("discovery")).toBeUndefined();
  expect((await examine("--url http://nowhere.invalid")).of("dns")).toMatchObject({ status: "fail" });
});

test("doctor reports another server, a rejected key and a different version or clock", async () => {
  const stranger = await serve(createServer((_request, response) => response.end("<html>")));
  expect((await examine(`--url http://127.0.0.1:${stranger}`)).of("discovery")).toMatchObject({ status: "fail" });
  const refusal = '{"error":{"code":"CSRF_ORIGIN_MISMATCH","message":"The Origin header names another host."}}';
  const odd = await serve(
    createServer(
      almostDaemon((request, response) => {
        response.setHeader("date", new Date(Date.now() - 3_600_000).toUTCString());
        if (request.method === "DELETE") response.writeHead(403).end(refusal);
      }),
    ),
  );
  const { status, of } = await examine(`--url http://127.0.0.1:${odd}`, { RUNTIMECTL_KEY: "not-its-key" });
  expect(status).toBe(1);
  expect(of("versions")).toMatchObject({ status: "warn" });
  expect(of("clock")).toMatchObject({ status: "warn", message: expect.stringMatching(/by 360\d seconds$/) as string });
  expect(of("origin")).toMatchObject({ status: "fail", message: "The Origin header names another host." });
  expect(of("key")).toMatchObject({ status: "fail", hint: "unset RUNTIMECTL_KEY, or set it to a key of this daemon" });
});

test("doctor sends the key only in GET requests and only to a verified daemon", async () => {
  const seen: unknown[] = [];
  const port = await serve(
    createServer(
      almostDaemon((request) => {
        if (request.headers["x-api-key"] !== undefined) seen.push(`${request.method} ${request.url}`);
      }),
    ),
  );
  await examine(`--url http://127.0.0.1:${port}`, { RUNTIMECTL_KEY: "some-good-key" });
  expect(seen).toEqual(["GET /api/health/ready?verbose=1", "GET /api/admin/session"]);
});

test("doctor rejects an untrusted certificate unless --cacert contains the certificate", async () => {
  const pair = { key: await readFile(fixture("key")), cert: await readFile(fixture("certificate")) };
  const port = await serve(
    createTlsServer(
      pair,
      almostDaemon(() => {}),
    ),
  );
  const url = `--url https://127.0.0.1:${port}`;
  expect((await examine(url)).of("tls")).toMatchObject({
    status: "fail",
    hint: "pass the CA certificate with --cacert FILE",
  });
  const trusted = await examine(`${url} --cacert ${fixture("certificate")}`);
  expect(trusted.of("tls")).toMatchObject({ status: "ok" });
  expect(trusted.of("discovery")).toMatchObject({ status: "ok" });
});

test("doctor checks DNS and certificate of each host name that was added to a worker", async () => {
  for (const host of ["nowhere.invalid", "shop.localhost"]) await shell.run(`hosts add ${host} shop`);
  const { status, of } = await examine();
  for (const host of ["nowhere.invalid", "shop.localhost"]) await shell.run(`hosts remove ${host} --yes`);
  expect(status).toBe(1);
  expect(of("host:nowhere.invalid")).toMatchObject({ status: "fail", hint: "runtimectl hosts check nowhere.invalid" });
  expect(of("host:shop.localhost")).toMatchObject({ status: "ok" });
});

test("doctor warns about configuration files that other users can read or change", async () => {
  const folder = path.join(shell.home, ".config/runtimectl");
  await chmod(path.join(folder, "config.yaml"), 0o666);
  await chmod(path.join(shell.home, "root.key"), 0o644);
  const { status, of } = await examine("--key-file root.key");
  expect(status).toBe(0);
  expect(of("config")).toMatchObject({ status: "warn", hint: `chmod 600 ${folder}/config.yaml` });
  expect(of("key file")).toMatchObject({ status: "warn" });
  await chmod(path.join(folder, "config.yaml"), 0o600);
  await chmod(path.join(folder, "credentials.json"), 0o640);
  const unsafe = await examine();
  await chmod(path.join(folder, "credentials.json"), 0o600);
  expect(unsafe.status).toBe(1);
  expect(unsafe.of("credentials")).toMatchObject({ status: "fail", hint: `chmod 600 ${folder}/credentials.json` });
  expect(unsafe.of("settings")).toMatchObject({ status: "fail" });
});

test("doctor --bundle writes a report without secrets and never overwrites a file", async () => {
  const config = path.join(shell.home, ".config/runtimectl/config.yaml");
  const before = await readFile(config, "utf8");
  await writeTree(shell.home, {
    ".config/runtimectl/config.yaml": before.replace("profiles:\n", "profiles:\n  old:\n    url: https://me:hunter2@example.org\n"),
  });
  const run = await shell.run("doctor --bundle report.json", { env: { RUNTIMECTL_KEY: daemon.rootKey } });
  expect(run.status, run.stderr).toBe(0);
  const file = path.join(shell.home, "report.json");
  const text = await readFile(file, "utf8");
  expect(JSON.parse(text)).toMatchObject({
    settings: { keySource: "RUNTIMECTL_KEY" },
    findings: [{ check: "node" }, ...Array.from({ length: 18 }, () => ({}))],
  });
  expect(text).toContain("https://[hidden]@example.org");
  expect(text).not.toContain(daemon.rootKey);
  expect(text).not.toContain("hunter2");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await shell.run("doctor --bundle report.json")).status).toBe(7);
  expect(await readFile(file, "utf8")).toBe(text);
  await writeTree(shell.home, { ".config/runtimectl/config.yaml": before });
});

test("doctor recommends two security settings when a key is limited to a namespace", async () => {
  expect((await examine()).of("panel-origin")).toBeUndefined();
  await shell.run("keys create --role editor --namespace @team");

  const { of } = await examine();

  expect(of("panel-origin")).toMatchObject({ status: "warn", message: expect.stringContaining("RUNTIME_PANEL_HOST") });
  expect(of("plugin-uploads")).toMatchObject({ status: "warn", message: expect.stringContaining("RUNTIME_PLUGIN_UPLOADS") });
});
