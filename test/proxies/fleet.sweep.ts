import { test } from "vitest";
import { expectFleetInTime } from "./fleet-rounds.js";

const rounds = 100;

test(`99 of ${rounds} uploads reach all daemons in 2 s, and revocations in 1.25 s`, () => expectFleetInTime(rounds));
