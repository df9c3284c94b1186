import { describe, expect, test } from "vitest";
import { ago, endOn, endsIn } from "../../../src/cli/output/format.js";
import { rolePermissions } from "../../../src/shared/permissions.js";
import { sessionOf } from "../../support/render-dashboard.js";
import { runInProcess } from "../../support/run-in-process.js";
import { startFakeDaemon } from "../../support/fake-daemon.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

const nowMs = Date.UTC(2026, 0, 31, 12);
const nowSeconds = nowMs / 1000;

test.each([
  [0, "now"],
  [59, "now"],
  [300, "5m ago"],
  [7200, "2h ago"],
  [86_400 * 3, "3d ago"],
])("runtimectl formats a time %i s ago as the text %s", (seconds, text) => {
  expect(ago(nowSeconds - seconds, nowMs)).toBe(text);
});

test.each([
  [-1, "expired"],
  [0, "expired"],
  [40, "in 40s"],
  [3599, "in 59m"],
  [86_399, "in 23h"],
  [86_400 * 89, "in 89d"],
])("runtimectl formats a key expiry %i s from now as the text %s", (seconds, text) => {
  expect(endsIn(nowSeconds + seconds, nowMs)).toBe(text);
});

test("runtimectl shows the time of day for a key that expires in less than two days", () => {
  expect(endOn(nowSeconds + 3600, nowMs)).toBe("2026-01-31 13:00 UTC (in 1h)");
  expect(endOn(nowSeconds - 3600, nowMs)).toBe("2026-01-31 11:00 UTC (expired)");
  expect(endOn(nowSeconds + 86_400 * 10, nowMs)).toBe("2026-02-10");
});

const secondsAgo = (seconds: number) => Math.floor(Date.now() / 1000) - seconds;

describe("times in the output of commands", () => {
  const key = { keyPrefix: "rtk_1", role: "viewer", permissions: ["workers:read"], namespaces: ["*"], createdAt: secondsAgo(86_400) };
  const file = { path: "workers/app/index.js", isDirectory: false, size: 12 };
  const entry = { id: 1, at: Date.now(), action: "key.created", outcome: "done", clientAddress: "::1", requestId: "id-1" };

  async function shown(words: string, isTerminal: boolean): Promise<string> {
    const daemon = await startFakeDaemon({
      "/api/admin/session": sessionOf(rolePermissions.admin),
      "/api/keys": { keys: [{ ...key, id: 7, name: "soon", expiresAt: secondsAgo(-7300), lastUsedAt: secondsAgo(310) }] },
      "/api/workers/files/list": {
        success: true,
        data: { path: "workers/app", entries: [{ ...file, name: "index.js", updatedAt: secondsAgo(310) }] },
      },
      "/api/audit": { entries: [entry], hasMore: false },
    });
    const home = await temporaryDirectory();
    const env = { HOME: home, TMPDIR: home, RUNTIMECTL_KEY: "some-key", NO_COLOR: "1" };
    try {
      const run = await runInProcess([...words.split(" "), "--url", daemon.url], { cwd: home, env, isTerminal, columns: 200 });
      expect(run.stderr).not.toContain("error:");
      return run.stdout;
    } finally {
      daemon.close();
    }
  }

  const dateTime = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`;

  test.each([
    ["keys list", / in 2h +5m ago$/m, new RegExp(`\t${dateTime}\t${dateTime}\t$`, "m")],
    ["keys show 7", /^last used +\d{4}-\d\d-\d\d \d\d:\d\d UTC \(5m ago\)$/m, new RegExp(`^last used +${dateTime}$`, "m")],
    ["files ls workers/app", / 5m ago$/m, new RegExp(`\t${dateTime}$`, "m")],
    ["audit", /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  key\.created/m, new RegExp(`^${dateTime}\tkey\\.created`, "m")],
  ])("are relative in a terminal, and in RFC 3339 format in a pipe (command: %s)", async (words, forPeople, forPrograms) => {
    expect(await shown(words, true)).toMatch(forPeople);
    expect(await shown(words, false)).toMatch(forPrograms);
  });
});
