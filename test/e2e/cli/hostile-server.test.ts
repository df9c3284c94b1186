import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ShellSession } from "./shell-session.js";

/** Text with escape sequences that set the window title, clear the screen, reverse the reading direction and add lines. */
const hostile = "\u001b]0;owned\u0007\u001b[2Jno\u009bm\u202eevil\r\nroot\u2028";
const written = "\\x1b]0;owned\\x07\\x1b[2Jno\\x9bm\\u{202e}evil";

let shell: ShellSession;
const servers: ReturnType<typeof createServer>[] = [];

beforeAll(async () => {
  shell = await ShellSession.open();
});

afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

afterAll(() => shell?.close());

type Answers = Readonly<Record<string, unknown>>;

/**
 * Starts a server that sends these documents in place of a daemon's responses. If a document is a number, the response has this error
 * status.
 */
async function serve(answers: Answers, seen: string[] = []): Promise<string> {
  const discovery = { name: "runtimed", api: "/api", version: "1.0.0", cpanel: "/cpanel/", docs: "/api/docs" };
  const server = createServer((request, response: ServerResponse) => {
    const call = `${request.method} ${request.url?.split("?")[0]}`;
    if (request.method !== "GET") seen.push(call);
    const answer = call === "GET /.well-known/runtime" ? discovery : (answers[call] ?? 404);
    if (typeof answer === "number") response.writeHead(answer);
    if (request.method === "POST" && call.endsWith("/rotate")) response.writeHead(201);
    const failure = { error: { code: answer === 404 ? "NOT_FOUND" : "INTERNAL_ERROR", message: "failed" } };
    response.end(JSON.stringify(typeof answer === "number" ? failure : answer));
  }).listen(0, "127.0.0.1");
  servers.push(server);
  await new Promise((resolve) => server.once("listening", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Response to a change of a version's state. */
const done = (version: string, enabled: boolean) => ({ success: true, data: { name: "app", version, enabled } });
const env = { RUNTIMECTL_KEY: "some-key" };
const counts = { "1xx": 0, "2xx": 0, "3xx": 0, "4xx": 0, "5xx": 0, aborted: 0 };
const activity = {
  requests: { total: 0, perSecond: 0, failed: 0, failedPerSecond: 0, inFlight: 0, queued: 0, byStatus: counts },
  errors: { total: 0, byCode: {} },
  isolates: { running: 0, starting: 0, draining: 0 },
  memory: { rssBytes: 0, pssBytes: null },
  cpuSeconds: 0,
  requestBodyBytes: 0,
  responseBodyBytes: 0,
  openSockets: 0,
};
const key = {
  id: 7,
  name: hostile,
  keyPrefix: hostile,
  role: "viewer",
  permissions: [],
  namespaces: [hostile],
  createdAt: 1_700_000_000,
  lastUsedAt: 1_700_000_000,
  expiresAt: 1_900_000_000,
};
const worker = (versions: readonly string[]) => ({
  name: "app",
  path: hostile,
  removable: true,
  source: "uploaded",
  versions,
  disabledVersions: [],
});
const answers: Answers = {
  "GET /api/workers": [worker([hostile])],
  "GET /api/metrics.json": {
    daemon: {
      version: "1",
      startedAt: 1,
      uptimeSeconds: 1,
      eventLoopLag: { p50Ms: 0, p99Ms: 0, maximumMs: 0 },
    },
    totals: activity,
    workers: [],
  },
  "GET /api/plugins": [
    {
      name: "guard",
      path: hostile,
      removable: true,
      source: "uploaded",
      version: hostile,
      enabled: true,
      status: "loaded",
      error: hostile,
      health: { state: "degraded", since: 1, reason: hostile },
    },
  ],
  "GET /api/plugins/loaded": [
    {
      name: "guard",
      base: `/${hostile}`,
      dependencies: [hostile],
      optionalDependencies: [hostile],
      menus: [{ title: hostile, icon: hostile, path: hostile }],
    },
  ],
  "GET /api/keys": { keys: [key] },
  "GET /api/admin/session": {
    authenticated: true,
    principal: { id: 7, name: hostile, keyPrefix: hostile, role: "admin", permissions: [], namespaces: ["*"] },
  },
  "POST /api/keys/7/rotate": { success: true, data: { ...key, key: "rtk_new", rotated: { id: 7, expiresAt: 1_800_000_000 } } },
  "DELETE /api/keys/7": { success: true },
};

describe("runtimectl with a server that sends control characters", () => {
  test.each([
    "workers show app",
    "workers open app",
    "plugins show guard",
    "keys list",
    "keys show 7",
    "keys rotate 7",
    "keys revoke 7 --yes",
    "keys revoke 7 8 --yes",
    "workers rollback app",
  ])("prints no control characters (command: %s)", async (words) => {
    const url = await serve(answers);

    const pipe = await shell.run(`${words} --url ${url}`, { env });
    const terminal = await shell.run(`${words} --url ${url}`, { env: { ...env, NO_COLOR: "" }, isTerminal: true });
    const json = await shell.run(`${words} --url ${url} --json`, { env });

    for (const text of [pipe, terminal].map(({ stdout, stderr }) => stdout + stderr)) {
      expect(text).not.toBe("");
      // oxlint-disable-next-line no-control-regex -- our own colours are the only escape codes
      expect(text.replace(/\u001b\[3?[0-9]m/g, "")).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202e\u2028]/);
      expect(text, "a line of the server's own").not.toMatch(/^\s*root/m);
      if (words !== "workers open app") expect(text).toContain(written);
    }
    expect(json.stdout + json.stderr).toMatch(/^[\u0020-\u007e\n]+$/);
  });
});

test("`keys revoke` asks for the key name with its control codes escaped", async () => {
  const seen: string[] = [];
  const url = await serve(answers, seen);
  let shown = "";
  let isAnswered = false;

  const run = await shell.runInTerminal(`keys revoke 7 --url ${url}`, {
    env,
    started: ({ stdin, stdout }) =>
      stdout?.on("data", (chunk: Buffer) => {
        shown += chunk.toString();
        if (isAnswered || !shown.includes("Type ")) return;
        isAnswered = true;
        stdin?.write(`${written}\\x0d\\x0aroot\\u{2028}\r`);
      }),
  });

  expect(run.status, run.stdout).toBe(0);
  expect(seen).toEqual(["DELETE /api/keys/7"]);
  for (const obeyed of ["\u001b]", "\u009b", "\u202e", "\u2028"]) expect(run.stdout).not.toContain(obeyed);
});

test("`workers rollback` exits with 12 when both the check and the undo fail", async () => {
  const seen: string[] = [];
  const url = await serve(
    {
      "GET /api/workers": [{ ...worker(["1.1.0", "1.0.0"]), disabledVersions: ["1.0.0"] }],
      "POST /api/workers/_/app/1.0.0/enable": done("1.0.0", true),
      "GET /app@1.0.0/": 500,
      "POST /api/workers/_/app/1.0.0/disable": 500,
    },
    seen,
  );

  const run = await shell.run(`workers rollback app --url ${url} --json`, { env });

  expect(run).toMatchObject({ status: 12, stdout: "" });
  expect(JSON.parse(run.stderr)).toMatchObject({
    error: { code: "NOT_ROLLED_BACK", details: ["runtimectl workers disable app@1.0.0"] },
  });
  expect(seen).toEqual(["POST /api/workers/_/app/1.0.0/enable", "POST /api/workers/_/app/1.0.0/disable"]);
});

test("`workers rollback` reverts all changes when it cannot disable a newer version", async () => {
  const seen: string[] = [];
  const url = await serve(
    {
      "GET /api/workers": [{ ...worker(["1.2.0", "1.1.0", "1.0.0"]), disabledVersions: ["1.0.0"] }],
      "POST /api/workers/_/app/1.0.0/enable": done("1.0.0", true),
      "GET /app@1.0.0/": {},
      "POST /api/workers/_/app/1.2.0/disable": done("1.2.0", false),
      "POST /api/workers/_/app/1.1.0/disable": 404,
      "POST /api/workers/_/app/1.2.0/enable": done("1.2.0", true),
      "POST /api/workers/_/app/1.0.0/disable": done("1.0.0", false),
    },
    seen,
  );

  const run = await shell.run(`workers rollback app --to 1.0.0 --url ${url} --json`, { env });

  expect(run).toMatchObject({ status: 6, stdout: "" });
  expect(seen.map((call) => call.replace("POST /api/workers/_/app/", ""))).toEqual([
    "1.0.0/enable",
    "1.2.0/disable",
    "1.1.0/disable",
    "1.2.0/enable",
    "1.0.0/disable",
  ]);
});
