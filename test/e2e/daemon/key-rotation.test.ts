import { expect, test } from "vitest";
import { connect } from "../../support/connect.js";
import { startDaemon } from "../../support/start-daemon.js";

test("a rotated key stays valid after a daemon restart until its grace period ends", async () => {
  const own = await startDaemon();
  try {
    const client = connect(own.url, own.rootKey);
    const old = (await client.keys.create({ body: { name: "a key", role: "viewer" } })).data;
    const replacement = (await client.keys.rotate({ params: { id: String(old.id) }, body: { overlap: "15s" } })).data;
    // Killed, so that only acknowledged changes are stored.
    await own.kill();

    const again = await startDaemon({ directory: own.directory });
    try {
      const show = (key: string) => connect(again.url, key).session.show();
      expect((await show(old.key)).principal).toMatchObject({ id: old.id, expiresAt: replacement.rotated.expiresAt });
      expect((await show(replacement.key)).principal).toMatchObject({ id: replacement.id });
      await expect
        .poll(
          () =>
            show(old.key).then(
              () => "works",
              (error: { code?: string }) => error.code,
            ),
          { timeout: 30_000, interval: 250 },
        )
        .toBe("AUTH_REQUIRED");
      expect(Date.now() / 1000).toBeGreaterThanOrEqual(replacement.rotated.expiresAt);
      expect((await show(replacement.key)).principal).toMatchObject({ id: replacement.id });
    } finally {
      await again.kill();
    }
  } finally {
    await own.dispose();
  }
}, 60_000);
