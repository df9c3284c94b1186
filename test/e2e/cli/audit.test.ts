import { afterAll, beforeAll, expect, test } from "vitest";
import { connect } from "../../support/connect.js";
import { runRuntimectl } from "../../support/run-runtimectl.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { startRuntimectl } from "../../support/start-runtimectl.js";

let daemon: TestDaemon;

beforeAll(async () => {
  daemon = await startDaemon();
  await createKey("first");
});
afterAll(() => daemon.dispose());

const createKey = (name: string) => connect(daemon.url, daemon.rootKey).keys.create({ body: { name, role: "viewer" } });
const run = (...words: string[]) => runRuntimectl(daemon, words);

const start = (...words: string[]) => startRuntimectl(daemon, words);

test("runtimectl audit prints the entries that match --action, --principal and --since", async () => {
  const { status, stdout } = await run("audit", "--since", "1h", "--action", "key.created", "--principal", "root");
  expect(status).toBe(0);
  expect(stdout).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z\tkey\.created\tdone\tfirst key 1\troot\t127\.0\.0\.1\t[0-9a-f-]{36}\n$/);
  const { stdout: json } = await run("audit", "--json");
  expect(JSON.parse(json)).toMatchObject({
    hasMore: false,
    entries: [
      { action: "key.created", subject: { name: "first", id: 1 }, at: expect.stringContaining("T"), atMilliseconds: expect.any(Number) },
    ],
  });
  expect(await run("audit", "--principal", "nobody")).toMatchObject({
    status: 0,
    stdout: "",
    stderr: expect.stringContaining("no matching entries"),
  });
});

test.each([
  [["audit", "--since", "yesterday"], "--since"],
  [["audit", "--action", "key.forged"], "--action"],
  [["audit", "--limit", "1001"], "--limit"],
  [["events", "--type", "worker.exploded"], "--type"],
  [["events", "--since", "soon"], "--since"],
])("runtimectl rejects the invalid arguments %j before sending a request", async (words, named) => {
  expect(await run(...words)).toMatchObject({ status: 2, stdout: "", stderr: expect.stringContaining(named) });
});

test("runtimectl audit -f prints new entries until Ctrl-C, even after a daemon restart", async () => {
  const { child, shown, ended } = start("audit", "-f", "--action", "key", "--limit", "1");
  await expect.poll(() => shown.stdout).toContain("first");
  await createKey("second");
  await expect.poll(() => shown.stdout).toContain("second");
  const { port } = new URL(daemon.url);
  await daemon.stop();
  await expect.poll(() => shown.stderr).toContain("connection lost; reconnecting");
  daemon = await startDaemon({ directory: daemon.directory, env: { PORT: port } });
  await createKey("third");
  await expect.poll(() => shown.stdout).toContain("third");
  expect(shown.stdout.trimEnd().split("\n")).toHaveLength(3);
  child.kill("SIGINT");
  expect(await ended).toBe(130);
});

test("runtimectl events --json prints each new event as one line of JSON", async () => {
  const { child, shown, ended } = start("events", "--type", "key", "--since", "1h", "--json");
  await expect.poll(() => shown.stdout).toContain("\n");
  await createKey("fourth");
  await expect.poll(() => shown.stdout).toContain("fourth");
  const last = JSON.parse(shown.stdout.trimEnd().split("\n").at(-1) ?? "") as object;
  expect(last).toMatchObject({
    type: "key.created",
    subject: { name: "fourth" },
    principal: { name: "root" },
    at: expect.stringContaining("T"),
  });
  child.kill("SIGINT");
  expect(await ended).toBe(130);
});
