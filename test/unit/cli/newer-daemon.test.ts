import { describe, expect, onTestFinished, test } from "vitest";
import { principal, startFakeDaemon, usualAnswers } from "../../support/fake-daemon.js";
import { runInProcess } from "../../support/run-in-process.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

const discovery = usualAnswers["/.well-known/runtime"] as object;
const worker = { name: "shop", path: "/srv/shop", removable: true, source: "uploaded", versions: ["1.0.0"], disabledVersions: [] };

async function run(words: readonly string[], answers: Readonly<Record<string, unknown>>) {
  const daemon = await startFakeDaemon(answers);
  onTestFinished(daemon.close);
  const home = await temporaryDirectory();
  const env = { HOME: home, TMPDIR: home, RUNTIMECTL_KEY: "some-key" };
  return await runInProcess([...words, "--url", daemon.url], { cwd: home, env });
}

describe("runtimectl with a newer daemon", () => {
  test("accepts an unknown permission and an unknown role of the key", async () => {
    const known = { ...principal, role: "auditor", permissions: ["workers:read", "reports:read"] };
    const { status, stdout } = await run(["auth", "status", "--json"], { "/api/admin/session": { authenticated: true, principal: known } });

    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ principal: { role: "auditor", permissions: ["workers:read", "reports:read"] } });
  });

  test("accepts an unknown role in the list of roles", async () => {
    const rolePermissions = { admin: ["reports:read"], editor: [], viewer: [], custom: [], auditor: ["reports:read"] };
    const meta = { roles: Object.keys(rolePermissions), permissions: ["reports:read"], rolePermissions };

    const { status, stdout } = await run(["keys", "meta"], { "/api/keys/meta": meta });

    expect(status).toBe(0);
    expect(stdout).toContain("auditor\treports:read");
  });

  test("shows an unknown state of a worker", async () => {
    const health = [{ name: "shop", version: "1.0.0", state: "paused", since: 0 }];
    const { status, stdout } = await run(["workers", "health"], { "/api/workers": [worker], "/api/workers/health": health });

    expect(status).toBe(0);
    expect(stdout).toContain("paused");
  });

  test("rejects a response with a value of the wrong type", async () => {
    const known = { ...principal, name: 7, permissions: ["reports:read"] };
    const { status, stderr } = await run(["auth", "status"], { "/api/admin/session": { authenticated: true, principal: known } });

    expect(status).not.toBe(0);
    expect(stderr).toContain("does not match the contract");
  });

  test("rejects a discovery document that another program sends", async () => {
    const { status, stderr } = await run(["auth", "status"], { "/.well-known/runtime": { ...discovery, name: "other" } });

    expect(status).not.toBe(0);
    expect(stderr).toContain("does not match the contract");
  });
});
