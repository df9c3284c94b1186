import { test } from "vitest";
import { expectInTime, runFleet } from "./fleet-rounds.js";

const rounds = 100;

test(`99 of ${rounds} uploads reach all daemons in 2 s, and 99 revocations in 1.25 s`, async () => expectInTime(await runFleet(rounds)));
