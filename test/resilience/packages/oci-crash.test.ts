import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectSoon, readText, soonMs, startOciInstances, uploadText, type OciInstances } from "../../support/start-oci-instances.js";

const rounds = 10;
const timeoutMs = 10 * 60_000;

let instances: OciInstances;

beforeAll(async () => {
  instances = await startOciInstances();
});

afterAll(() => instances.dispose());

test(
  `two daemons serve the same confirmed content after ${rounds} kills during uploads`,
  async () => {
    const other = await instances.start("other");
    let daemon = await instances.start("killed");
    let confirmed = "none";
    const began = performance.now();
    await uploadText(daemon, "app", "1.0.0", confirmed);
    const uploadMs = performance.now() - began;
    let cut = 0;
    for (let round = 0; round < rounds; round += 1) {
      const text = `round ${round}`;
      const uploading = uploadText(daemon, "app", "1.0.0", text).then(
        () => true,
        () => false,
      );
      await delay(Math.random() * 1.3 * uploadMs);
      await daemon.kill();
      const isConfirmed = await uploading;
      if (!isConfirmed) cut += 1;
      daemon = await instances.start("killed");
      const valid = isConfirmed ? [text] : [confirmed, text];
      await expect.poll(() => readText(daemon, "app"), { timeout: soonMs }).toSatisfy((now: string) => valid.includes(now));
      await expect
        .poll(async () => (await readText(other, "app")) === (await readText(daemon, "app")), { timeout: soonMs, interval: 50 })
        .toBe(true);
      confirmed = String(await readText(daemon, "app"));
      await expectSoon(other, "app", confirmed);
      expect(valid).toContain(confirmed);
    }
    expect(cut).toBeGreaterThan(0);
  },
  timeoutMs,
);
