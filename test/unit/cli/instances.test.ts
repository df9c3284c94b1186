import { describe, expect, onTestFinished, test } from "vitest";
import { startFakeDaemon, WireAnswer } from "../../support/fake-daemon.js";
import { runInProcess } from "../../support/run-in-process.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

async function run(words: readonly string[], answers: Readonly<Record<string, unknown>>, isTerminal = false) {
  const daemon = await startFakeDaemon(answers);
  onTestFinished(daemon.close);
  const home = await temporaryDirectory();
  const env = { HOME: home, TMPDIR: home, RUNTIMECTL_KEY: "some-key" };
  const result = await runInProcess([...words, "--url", daemon.url], { cwd: home, env, isTerminal, columns: 200 });
  return { ...result, requests: daemon.requests };
}

/** Returns a stream that sends one entry and then ends. */
function streamOf(entry: { readonly id: number }): WireAnswer {
  const end = JSON.stringify({ error: { code: "AUTH_REQUIRED", message: "The key was revoked." } });
  return new WireAnswer(200, `id: ${entry.id}\ndata: ${JSON.stringify(entry)}\n\nevent: end\ndata: ${end}\n\n`);
}

const own = {
  name: "eu-1",
  id: "id-1",
  address: "http://10.0.0.11:8000",
  version: "1.2.3",
  isSelf: true,
  state: "ready",
  lagSeconds: 0.25,
  isolates: 3,
};
const gone = {
  ...own,
  name: "eu-2",
  id: "id-2",
  address: null,
  isSelf: false,
  state: "gone",
  lagSeconds: null,
  isolates: null,
  problem: "It was stopped, or has sent no heartbeat for 30 s.",
};

describe("runtimectl instances list", () => {
  test("prints one line per daemon and marks the daemon that responds to the command", async () => {
    expect((await run(["instances", "list"], { "/api/instances": [own, gone] })).stdout).toBe(
      "eu-1 *\thttp://10.0.0.11:8000\t1.2.3\tready\t0.3 s\t3\t\neu-2\t-\t1.2.3\tgone\t-\t-\tIt was stopped, or has sent no heartbeat for 30 s.\n",
    );
  });

  test("prints the IDs of daemons whose name is that of another daemon", async () => {
    const twin = { ...own, name: "eu-3", isSelf: false };
    const all = [own, { ...gone, name: "eu-1" }, { ...twin, id: "id-3" }, { ...twin, id: "id-4" }];
    const { stdout } = await run(["instances", "list"], { "/api/instances": all });
    expect(stdout.split("\n").map((line) => line.split("\t")[0])).toEqual(["eu-1 *", "eu-1 id-2", "eu-3 id-3", "eu-3 id-4", ""]);
  });

  test("prints the daemons as JSON, or as a table with the number of ready daemons", async () => {
    const { stdout } = await run(["instances", "list", "--json"], { "/api/instances": [own, gone] });
    expect(JSON.parse(stdout)).toEqual({ instances: [own, gone] });
    expect((await run(["instances", "list"], { "/api/instances": [own, gone] }, true)).stderr).toContain("1 of 2 daemons ready");
  });
});

describe("runtimectl instances drain", () => {
  const data = { name: "eu-2", id: "id-2", draining: true };

  const listed = (requestsInFlight: number) => ({
    "/api/instances/eu-2/drain": { success: true, data },
    "/api/instances": [own, { ...own, name: "eu-2", id: "id-2", isSelf: false, state: "draining", requestsInFlight }],
  });

  test("drains a daemon and prints the command that ends the drain", async () => {
    const { status, stderr, requests } = await run(["instances", "drain", "eu-2"], listed(0));

    expect(status).toBe(0);
    expect(stderr).toContain("eu-2 has no request in flight");
    expect(stderr).toContain("eu-2 reports that it is not ready, and still serves");
    expect(stderr).toMatch(/Undo: runtimectl .*instances drain id-2 --undo/);
    expect(requests).toContain("POST /api/instances/eu-2/drain");
  });

  test("ends the drain with --undo", async () => {
    const answers = { "/api/instances/eu-2/undrain": { success: true, data: { ...data, draining: false } } };

    const { status, stdout, requests } = await run(["instances", "drain", "eu-2", "--undo", "--json"], answers);

    expect({ status, document: JSON.parse(stdout) }).toEqual({ status: 0, document: { ...data, draining: false } });
    expect(requests).toContain("POST /api/instances/eu-2/undrain");
  });

  test("exits with 1 if requests are in flight when the time limit is over", async () => {
    const { status, stderr } = await run(["instances", "drain", "eu-2", "--drain-timeout", "10ms"], listed(2));

    expect(status).toBe(1);
    expect(stderr).toContain("eu-2 has 2 requests in flight after 0.01 s, and stays drained");
  });

  test("does not wait with --drain-timeout 0, and rejects an invalid --drain-timeout", async () => {
    expect(await run(["instances", "drain", "eu-2", "--drain-timeout", "0"], listed(2))).toMatchObject({ status: 0 });
    const { status, requests } = await run(["instances", "drain", "eu-2", "--drain-timeout", "later"], listed(2));
    expect({ status, requests }).toEqual({ status: 2, requests: [] });
  });

  test("exits with 6 for an unknown daemon", async () => {
    const answer = WireAnswer.refusal(404, "INSTANCE_NOT_FOUND", "No daemon has the name or id eu-9.");
    expect(await run(["instances", "drain", "eu-9"], { "/api/instances/eu-9/drain": answer })).toMatchObject({ status: 6 });
  });
});

describe("runtimectl workers restart and plugins reload", () => {
  const path = "/api/workers/_/shop/1.0.0/restart";
  const restarted = { name: "shop", version: "1.0.0", restarted: 2 };
  const answerWith = (instances: object) => ({ [path]: { success: true, data: { ...restarted, instances } } });

  test("print how many other daemons were notified, or why none was notified", async () => {
    expect((await run(["workers", "restart", "shop@1.0.0"], answerWith({ notified: 1 }))).stderr).toContain("1 other daemon notified");
    const { status, stderr } = await run(
      ["workers", "restart", "shop@1.0.0"],
      answerWith({ notified: 0, problem: "The primary is away." }),
    );
    expect(status).toBe(0);
    expect(stderr).toContain("only this daemon has done it. The primary is away.");
    const plugins = { success: true, data: { plugins: [], instances: { notified: 2 } } };
    expect((await run(["plugins", "reload"], { "/api/plugins/reload": plugins })).stderr).toContain("2 other daemons notified");
  });
});

describe("runtimectl audit", () => {
  const entry = { id: 1, at: 0, action: "key.created", outcome: "done", clientAddress: "::1", requestId: "r", instance: "eu-2" };
  const instances = [
    { name: "eu-2", id: "id-2" },
    { name: "eu-1", id: "id-1", problem: "It did not respond within 2 s." },
  ];

  test("prints the daemon of each entry, and names the daemons whose entries are missing", async () => {
    const { status, stdout, stderr } = await run(["audit"], { "/api/audit": { entries: [entry], hasMore: false, instances } });

    expect(status).toBe(0);
    expect(stdout).toBe("1970-01-01T00:00:00.000Z\tkey.created\tdone\t\t\t::1\tr\teu-2\n");
    expect(stderr).toContain("entries of eu-1 are missing: It did not respond within 2 s.");
  });

  test("prints no column for daemons if only one daemon exists", async () => {
    const { instance: _instance, ...ofOnlyDaemon } = entry;
    const { stdout } = await run(["audit"], { "/api/audit": { entries: [ofOnlyDaemon], hasMore: false } });
    expect(stdout).toBe("1970-01-01T00:00:00.000Z\tkey.created\tdone\t\t\t::1\tr\n");
  });

  test("prints the daemon of each streamed entry unless --instance selects one daemon", async () => {
    const answers = { "/api/audit": streamOf(entry) };
    expect((await run(["audit", "-f"], answers)).stdout).toMatch(/\tr\teu-2\n/);
    const { stdout } = await run(["audit", "-f", "--instance", "eu-2"], answers);
    expect(stdout).toMatch(/\tr\n/);
  });
});

describe("runtimectl workers logs", () => {
  const entry = { id: 1, time: 0, worker: "shop", version: "1.0.0", level: "info", source: "app", text: "one\ntwo", instance: "eu-2" };
  const instances = [
    { name: "eu-2", id: "id-2" },
    { name: "eu-1", id: "id-1", problem: "It did not respond within 2 s." },
  ];

  test("prints the daemon before the text, and the daemons whose entries are missing", async () => {
    const { stdout, stderr } = await run(["workers", "logs"], { "/api/logs": { entries: [entry], hasMore: false, instances } });
    expect(stdout).toBe("1970-01-01T00:00:00.000Z\tinfo\tshop@1.0.0\tapp\teu-2\tone\n\t\t\t\t\ttwo\n");
    expect(stderr).toContain("entries of eu-1 are missing: It did not respond within 2 s.");
    const json = await run(["workers", "logs", "--json"], { "/api/logs": { entries: [entry], hasMore: false, instances } });
    expect(JSON.parse(json.stdout)).toMatchObject({ entries: [{ instance: "eu-2" }], instances });
  });

  test("prints no daemon if all entries come from one daemon", async () => {
    const answer = { entries: [entry], hasMore: false, instances: instances.slice(0, 1) };
    const { stdout } = await run(["workers", "logs", "--instance", "eu-2"], { "/api/logs": answer });
    expect(stdout).toBe("1970-01-01T00:00:00.000Z\tinfo\tshop@1.0.0\tapp\tone\n\t\t\t\ttwo\n");
  });
});
