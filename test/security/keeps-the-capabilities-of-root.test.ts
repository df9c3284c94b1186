import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../support/connect.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { uploadWorker } from "../support/upload-worker.js";

/** `CAP_DAC_OVERRIDE` and `CAP_DAC_READ_SEARCH`: access to files of other users, within Landlock. */
const fileCapabilities = 0b110;

describe.runIf(process.getuid?.() === 0)("a worker of a daemon that runs as root with RUNTIME_WORKER_UIDS=off", () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startDaemon({ env: { RUNTIME_WORKER_UIDS: "off" } });
  });
  afterAll(() => daemon.dispose());

  test("has no Linux capabilities except those for file access", async () => {
    const code = "export default { fetch: () => Response.json([process.pid, process.getuid()]) };";
    await uploadWorker(connect(daemon.url, daemon.rootKey), "app", { "index.js": code, "package.json": '{"type":"module"}' });
    const [pid, uid] = (await (await fetch(`${daemon.url}/app/`)).json()) as [number, number];
    expect(uid).toBe(0);
    const status = await readFile(`/proc/${pid}/status`, "utf8");
    const capabilities = [...status.matchAll(/^Cap(?:Inh|Prm|Eff|Bnd|Amb):\s+(\w+)$/gm)].map(([, bits]) => Number(`0x${bits}`));
    expect(capabilities).toHaveLength(5);
    for (const bits of capabilities) expect(bits & ~fileCapabilities).toBe(0);
  });
});
