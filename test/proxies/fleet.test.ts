import { test } from "vitest";
import { expectFleetInTime } from "./fleet-rounds.js";

/** test/proxies/fleet.sweep.ts measures 100 rounds. */
const rounds = 20;

test("uploads reach all daemons in 2 s, and revocations in 1.25 s", { timeout: 240_000 }, () => expectFleetInTime(rounds));
