import { setTimeout as delay } from "node:timers/promises";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { backUpPrimary } from "../../support/back-up-primary.js";
import { connect } from "../../support/connect.js";
import { keysInReplica } from "../../support/open-replicated-store.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { startSqld } from "../../support/start-sqld.js";

/** Times after the request at which the daemon is killed, in ms. A resync takes 100 ms, and longer on a busy machine. */
const killsMs = [0, 30, 120, 2_000];
const kept = ["kept", "added 1", "added 2"];
const restored = ["kept", "revoked"];

const clientOf = ({ url, rootKey }: TestDaemon) => connect(url, rootKey);
const namesOf = async (daemon: TestDaemon) => (await clientOf(daemon).keys.list()).keys.map(({ name }) => name);

test.each(["from-cache", "accept-primary"] as const)(
  "a daemon that is killed during the resync `%s` is then diverged or resynced",
  async (mode) => {
    const sqld = await startSqld();
    onTestFinished(sqld.dispose);
    const env = { RUNTIME_AUTH_DB_MODE: "sync", RUNTIME_AUTH_DB_SYNC_URL: sqld.url, RUNTIME_AUTH_DB_SYNC_INTERVAL: "200ms" };
    const outcomes = { diverged: 0, resynced: 0 };
    for (const killMs of killsMs) {
      let daemon = await startDaemon({ env });
      const { directory } = daemon;
      const { keys, index } = clientOf(daemon);
      for (const { id } of (await keys.list()).keys) await keys.revoke({ params: { id: String(id) } });
      await keys.create({ body: { name: "kept", role: "viewer" } });
      const { data } = await keys.create({ body: { name: "revoked", role: "viewer" } });
      const restore = await backUpPrimary(sqld);
      await expect.poll(async () => (await index.show()).problem).toBeNull();
      await keys.revoke({ params: { id: String(data.id) } });
      for (const name of kept.slice(1)) await keys.create({ body: { name, role: "viewer" } });
      await expect.poll(() => keysInReplica(path.join(directory, "state"))).toBe(data.id + 2);
      await restore();
      await expect.poll(async () => (await index.show()).divergence?.missingCount, { timeout: 30_000 }).toBe(3);

      const resync = index.resync({ body: { mode } }).then(
        () => true,
        () => false,
      );
      await delay(killMs);
      await daemon.kill();
      const isConfirmed = await resync;
      daemon = await startDaemon({ env, directory });
      const problem = async () => String((await clientOf(daemon).index.show()).problem);
      await expect.poll(problem).not.toMatch(/has not responded|cannot be reached/);

      const { divergence } = await clientOf(daemon).index.show();
      const isDiverged = divergence !== null;
      outcomes[isDiverged ? "diverged" : "resynced"] += 1;
      if (isConfirmed) expect(isDiverged).toBe(false);
      if (isDiverged) expect(divergence).toMatchObject({ kind: "restored", missingCount: 3 });
      expect(await namesOf(daemon)).toEqual(isDiverged || mode === "from-cache" ? kept : restored);
      const fresh = await startDaemon({ env });
      expect(await namesOf(fresh)).toEqual(isDiverged || mode === "accept-primary" ? restored : kept);
      await fresh.dispose();
      await daemon.dispose();
    }
    console.log(mode, outcomes);
    expect(outcomes.diverged).toBeGreaterThan(0);
    expect(outcomes.resynced).toBeGreaterThan(0);
  },
  300_000,
);
