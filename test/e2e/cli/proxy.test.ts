import { readFile } from "node:fs/promises";
import { createServer as createTlsServer } from "node:tls";
import { connect, type AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, afterEach, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { startForwardProxy, type ForwardProxy } from "../../support/forward-proxy.js";
import { writeTree } from "../../support/write-tree.js";
import { expectFailure } from "./expect-failure.js";
import { ShellSession, type Run } from "./shell-session.js";

let daemon: TestDaemon;
let shell: ShellSession;
let proxy: ForwardProxy;
/** The daemon's origin with TLS. */
let origin: string;
let closeFront: () => void;

const fixture = (name: string) => fileURLToPath(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url));

beforeAll(async () => {
  [daemon, shell] = await Promise.all([startDaemon(), ShellSession.open()]);
  await writeTree(shell.home, {
    "root.key": daemon.rootKey,
    "app/manifest.yaml": "name: app\nversion: 1.0.0\n",
    "app/index.js": "export default { fetch: () => (console.log('asked'), new Response('app')) };",
  });
  const pair = { key: await readFile(fixture("key")), cert: await readFile(fixture("certificate")) };
  const front = createTlsServer(pair, (socket) => {
    const onward = connect(Number(new URL(daemon.url).port), "127.0.0.1");
    socket.pipe(onward).pipe(socket);
    socket.on("error", () => onward.destroy());
    onward.on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
  origin = `https://127.0.0.1:${(front.address() as AddressInfo).port}`;
  closeFront = () => front.close();
});

beforeEach(async () => {
  proxy = await startForwardProxy();
});

afterEach(() => proxy.close());

afterAll(async () => {
  closeFront?.();
  await daemon?.dispose();
  await shell?.close();
});

const target = () => new URL(origin).host;

const behindFront = (words: string) => `${words} --url ${origin} --key-file root.key --cacert ${fixture("certificate")}`;

function through(words: string, env: Readonly<Record<string, string>> = {}): Promise<Run> {
  return shell.run(behindFront(words), { env: { HTTPS_PROXY: proxy.url, ...env } });
}

test("runtimectl sends requests, uploads and streams over TLS through HTTPS_PROXY", async () => {
  const upload = await through("workers upload app");
  expect(upload.status, upload.stderr).toBe(0);
  const list = await through("workers list --json=name");
  expect(JSON.parse(list.stdout)).toMatchObject({ workers: [{ name: "app" }] });
  await fetch(`${daemon.url}/app/`);
  const logs = await shell.runProgram(behindFront("workers logs app -f"), {
    env: { HTTPS_PROXY: proxy.url },
    started: (child) => child.stdout?.once("data", () => child.kill("SIGINT")),
  });
  expect(logs.stdout).toContain("asked");
  expect(new Set(proxy.targets)).toEqual(new Set([target()]));
  for (const secret of [daemon.rootKey, "x-api-key", "asked"]) expect(proxy.seen().includes(secret)).toBe(false);
});

test.each([
  ["a host in NO_PROXY", { NO_PROXY: "example.org, 127.0.0.1" }],
  ["every host with NO_PROXY=*", { no_proxy: "*" }],
])("runtimectl connects without the proxy when NO_PROXY matches (%s)", async (_name, env) => {
  const list = await through("workers list", env);
  expect(list.status, list.stderr).toBe(0);
  expect(proxy.targets).toEqual([]);
});

test("runtimectl connects without the proxy when the daemon's URL starts with http:", async () => {
  const list = await shell.run(`workers list --url ${daemon.url} --key-file root.key`, { env: { HTTPS_PROXY: proxy.url } });
  expect(list.status, list.stderr).toBe(0);
  expect(proxy.targets).toEqual([]);
});

test("runtimectl sends proxy credentials only to the proxy and never prints them", async () => {
  const secret = proxy.url.replace("//", "//me:pass%20word@");
  const list = await through("workers list -vv", { https_proxy: secret, HTTPS_PROXY: "http://127.0.0.1:1" });
  expect(list.status, list.stderr).toBe(0);
  expect(new Set(proxy.authorizations)).toEqual(new Set([`Basic ${Buffer.from("me:pass word").toString("base64")}`]));
  const doctor = await through("doctor --json", { HTTPS_PROXY: secret });
  expect(doctor.stdout).toContain("use the proxy of HTTPS_PROXY");
  for (const run of [list, doctor]) expect(run.stdout + run.stderr).not.toMatch(/pass(?:%20| )word|bWU6cGFzcyB3b3Jk/);
});

test("runtimectl rejects an untrusted daemon certificate behind a proxy", async () => {
  const env = { HTTPS_PROXY: proxy.url };
  await expectFailure(shell, `workers list --url ${origin} --key-file root.key`, { status: 8, code: "CERTIFICATE_REFUSED", env });
  expect(proxy.targets).not.toEqual([]);
});

test("runtimectl prints a specific error for each kind of proxy failure", async () => {
  const refusing = await startForwardProxy(407);
  const words = `workers list --url ${origin} --key-file root.key`;
  const cases = [
    [refusing.url, { status: 8, code: "PROXY_REFUSED" }],
    ["http://me:secret@127.0.0.1:1", { status: 8, code: "UNREACHABLE" }],
    ["socks5://127.0.0.1:1", { status: 2, code: "USAGE" }],
  ] as const;
  for (const [url, expected] of cases) await expectFailure(shell, words, { ...expected, env: { HTTPS_PROXY: url } });
  refusing.close();
  expect(refusing.authorizations).toEqual([undefined]);
});
