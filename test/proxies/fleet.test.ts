import { test } from "vitest";
import { runFleet } from "./fleet-rounds.js";

/** test/proxies/fleet.sweep.ts measures 100 rounds and expects the limits, because other tests possibly use this machine now. */
const rounds = 20;

test("uploads, revocations and restarts reach all daemons, and no request fails", { timeout: 240_000 }, async () => {
  await runFleet(rounds);
});
