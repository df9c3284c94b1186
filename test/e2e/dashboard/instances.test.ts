import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestInstance } from "../../support/start-instances.js";
import { clusterTestMs, soonMs } from "../../support/start-oci-instances.js";
import { startSyncedInstances, type SyncedInstances } from "../../support/start-synced-instances.js";
import { ShellSession } from "../cli/shell-session.js";
import { openTui } from "./dashboard-session.js";

let instances: SyncedInstances;
let shell: ShellSession;
let a: TestInstance;
let b: TestInstance;

beforeAll(async () => {
  [instances, shell] = await Promise.all([startSyncedInstances(), ShellSession.open()]);
  [a, b] = await Promise.all([instances.start("eu-1"), instances.start("eu-2")]);
});
afterAll(async () => {
  await shell?.close();
  await instances?.dispose();
});

const readiness = async () => (await fetch(`${b.url}/api/health/ready`)).status;

test(
  "drains another daemon, reverts the drain, and lists a stopped daemon as incident",
  async () => {
    const env = { RUNTIMECTL_URL: a.url, RUNTIMECTL_KEY: a.rootKey };
    const window = await openTui(shell, "--screen instances", { columns: 140, rows: 45, env });
    await window.waitFor("> eu-1 *");
    await expect.poll(() => window.text(), { timeout: soonMs }).toMatch(/eu-2 +● ready/);
    window.press("j");
    await window.waitFor("> eu-2");
    await window.waitFor("z drain on/off");
    window.press("z");
    await window.waitFor("Drain eu-2: it reports that it is not ready");
    window.press("y");
    await window.waitFor("done: eu-2 reports that it is not ready");
    await expect.poll(readiness, { timeout: soonMs }).toBe(503);
    await expect.poll(() => window.text(), { timeout: soonMs }).toMatch(/eu-2 +◌ draining/);
    window.press("U");
    await window.waitFor("done: the drain of eu-2 has ended");
    await expect.poll(readiness, { timeout: soonMs }).toBe(200);

    await b.stop();
    await expect.poll(() => window.text(), { timeout: soonMs }).toMatch(/eu-2 +○ gone/);
    window.press("1");
    await window.waitFor("1 of 2 instances is gone");
    await window.waitFor("1 of 2 ready");
  },
  clusterTestMs,
);
