import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { runRuntimectl } from "../../support/run-runtimectl.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { startRuntimectl } from "../../support/start-runtimectl.js";

const talker = `export default { fetch(request) {
  const url = new URL(request.url);
  console[url.pathname.slice(1)](url.searchParams.get("text"));
  return new Response("said");
} };`;

let daemon: TestDaemon;

beforeAll(async () => {
  daemon = await startDaemon();
  for (const name of ["talker", "silent"]) {
    const archive = await packFiles({ "manifest.yaml": manifestOf(name, "1.0.0"), "index.js": talker });
    await connect(daemon.url, daemon.rootKey).workers.upload({ file: uploadOf("talker.tgz", archive) });
  }
});
afterAll(() => daemon.dispose());

const say = async (text: string, level = "info") => (await fetch(`${daemon.url}/talker/${level}?text=${encodeURIComponent(text)}`)).text();
/** Reads only output, not requests. */
const readOutput = (...words: string[]) => read(...words, "--source", "app");
const read = (...words: string[]) => runRuntimectl(daemon, ["workers", "logs", ...words]);

/** Starts `workers logs -f` and leaves it running. */
const follow = (...words: string[]) => startRuntimectl(daemon, ["workers", "logs", "-f", ...words]);

const patient = { timeout: 15_000 };

describe("runtimectl `workers logs`", () => {
  test("prints a hint for an empty log, and rejects invalid flags", async () => {
    expect(await read("silent")).toMatchObject({ status: 0, stdout: "", stderr: expect.stringContaining("console.log()") });
    expect(await read("silent", "--level", "warn")).toMatchObject({ status: 0, stderr: expect.stringContaining("no matching entries") });
    expect((await read("silent", "--level", "warn")).stderr).toBe("no matching entries; try without --level\n");
    const searched = await read("silent", "--since", "1s", "--status", "5xx", "--grep", "x");
    expect(searched.stderr).toBe("no matching entries; try without --since, --status and --grep\n");
    expect(await read("none")).toMatchObject({ status: 6, stderr: expect.stringContaining("WORKER_NOT_FOUND") });
    expect(await read("silent", "--since", "yesterday")).toMatchObject({ status: 2, stderr: expect.stringContaining("--since") });
    expect(await read("silent", "-f", "--until", "1h")).toMatchObject({ status: 2, stderr: expect.stringContaining("--until") });
    expect(await read("silent", "--limit", "0")).toMatchObject({ status: 2, stderr: expect.stringContaining("--limit") });
  });

  test("prints requests, filters by status or request ID, and accepts several workers", async () => {
    await say("hello");
    const failed = await fetch(`${daemon.url}/talker/nothing?key=hidden`);
    const found = await read("--status", "5xx");
    expect(found.stdout).toMatch(/^\S+Z\terror\ttalker@1\.0\.0\trequest\tGET \/talker\/nothing 502 [\d.]+ ms\n$/);
    const byId = await read("talker", "--request-id", failed.headers.get("x-request-id") ?? "", "--json");
    expect(JSON.parse(byId.stdout)).toMatchObject({ entries: [{ source: "request", request: { path: "/talker/nothing", status: 502 } }] });
    expect((await read("silent", "talker", "--source", "request")).stdout).toContain("GET /talker/info 200");
    expect(await read("silent", "talker@1.0.0")).toMatchObject({ status: 2, stderr: expect.stringContaining("exactly one worker") });
    expect(await read("--status", "600")).toMatchObject({ status: 2, stderr: expect.stringContaining("--status") });
  });

  test("prints tab-separated entries in a pipe and escapes control characters", async () => {
    await say("plain");
    await say("two\nlines\x1b[2J\x07", "error");
    const { stdout, status } = await read("talker", "--grep", "LINES");
    expect(stdout).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z\terror\t1\.0\.0\tapp\ttwo\n\t\t\t\tlines\\x1b\[2J\\x07\n$/);
    expect(status).toBe(0);
    expect(
      (await readOutput("talker@1.0.0", "--grep", "LINES", "--level", "error", "--since", "1h", "--limit", "5")).stdout.split("\n"),
    ).toHaveLength(3);
    const [time] = stdout.split("\t") as [string];
    expect((await readOutput("talker", "--until", time)).stdout).toMatch(/\tplain\n$/);
    expect((await readOutput("talker", "--since", time)).stdout).toBe(stdout);
  });

  test("prints one JSON document with --json", async () => {
    const { stdout } = await read("talker", "--json", "--grep", "plain");
    expect(JSON.parse(stdout)).toMatchObject({
      name: "talker",
      hasMore: false,
      entries: [{ level: "info", source: "app", text: "plain", time: expect.stringContaining("T"), timeMilliseconds: expect.any(Number) }],
    });
  });
});

describe("runtimectl `workers logs -f`", () => {
  test("prints new entries until Ctrl-C, and then exits with 130", async () => {
    const { child, shown, ended } = follow("talker", "--level", "warn");
    await expect.poll(() => shown.stdout, patient).toContain("two");
    await say("not this");
    await say("a warning", "warn");
    await expect.poll(() => shown.stdout, patient).toContain("a warning");
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    expect(shown.stdout).not.toContain("not this");
    expect(shown.stderr).toBe("");
  });

  test("with --json, prints each entry as a line of JSON and stops when the pipe closes", async () => {
    const { child, shown, ended } = follow("talker", "--json", "--grep", "document");
    await say("document 1");
    await expect.poll(() => shown.stdout, patient).toContain("\n");
    expect(JSON.parse(shown.stdout)).toMatchObject({ text: "document 1" });
    child.stdout.destroy();
    await expect.poll(async () => (await say("document 2"), child.exitCode), patient).toBe(0);
    expect(await ended).toBe(0);
  });

  test("prints a warning and reconnects when the daemon restarts", async () => {
    const { child, shown, ended } = follow("talker", "--grep", "restart");
    await say("before the restart");
    await expect.poll(() => shown.stdout, patient).toContain("before the restart");
    const port = new URL(daemon.url).port;
    await daemon.stop();
    await expect.poll(() => shown.stderr, patient).toContain("connection lost; reconnecting");
    daemon = await startDaemon({ directory: daemon.directory, env: { PORT: port } });
    await say("after the restart");
    await expect.poll(() => shown.stdout, patient).toContain("after the restart");
    expect(shown.stderr).toContain("reconnected");
    expect(shown.stdout.match(/before the restart/g)).toHaveLength(1);
    child.kill("SIGTERM");
    expect(await ended).toBe(143);
  });
});
