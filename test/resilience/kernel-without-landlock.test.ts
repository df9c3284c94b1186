import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { connect } from "../support/connect.js";
import { startDaemon } from "../support/start-daemon.js";
import { uploadWorker } from "../support/upload-worker.js";

/** Runs the daemon below a seccomp filter, like a unit or container can have. */
const refusing = (denied: "landlock" | "both"): string[] => [
  process.execPath,
  "--disable-warning=ExperimentalWarning",
  fileURLToPath(new URL("../fixtures/sandbox/without-landlock.mjs", import.meta.url)),
  denied,
];

test.each(["landlock", "both"] as const)("a daemon serves, and lists the missing isolation layers (kernel denies: %s)", async (denied) => {
  const daemon = await startDaemon({ launcher: refusing(denied), directoryMode: 0o711 });
  try {
    await uploadWorker(connect(daemon.url, daemon.rootKey), "app", {
      "index.mjs": "export default { fetch: () => new Response('served') };",
    });
    expect(await (await fetch(`${daemon.url}/app/`)).text()).toBe("served");
    const response = await fetch(`${daemon.url}/api/health/ready?verbose=1`, { headers: { "X-API-Key": daemon.rootKey } });
    const { checks } = (await response.json()) as { checks: { name: string; status: string; message: string }[] };
    const found = Object.fromEntries(checks.map(({ name, status, message }) => [name, { status, message }]));
    expect(found["isolation:landlock"]).toEqual({ status: "degraded", message: "landlock_create_ruleset failed with EPERM" });
    expect(found["isolation:seccomp"]?.status).toBe(denied === "both" ? "degraded" : "ok");
    expect(daemon.output()).toContain(
      denied === "both" ? "isolation layers are missing: landlock, seccomp" : "isolation layers are missing: landlock",
    );
  } finally {
    await daemon.dispose();
  }
});

test.each(["landlock", "both"] as const)("a daemon exits with 78 for RUNTIME_ISOLATION=strict (kernel denies: %s)", async (denied) => {
  await expect(startDaemon({ launcher: refusing(denied), env: { RUNTIME_ISOLATION: "strict" } })).rejects.toThrow(
    /ended with 78 [^]*RUNTIME_ISOLATION=strict.*Landlock is missing \(landlock_create_ruleset failed with EPERM\)/,
  );
});

test("a daemon serves with RUNTIME_ISOLATION=strict when the kernel has all layers", async () => {
  const daemon = await startDaemon({ env: { RUNTIME_ISOLATION: "strict" }, directoryMode: 0o711 });
  try {
    await uploadWorker(connect(daemon.url, daemon.rootKey), "app", {
      "index.mjs": "export default { fetch: () => new Response('served') };",
    });
    expect(await (await fetch(`${daemon.url}/app/`)).text()).toBe("served");
  } finally {
    await daemon.dispose();
  }
});
