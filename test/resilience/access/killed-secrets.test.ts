import { test } from "vitest";
import { killWhileSecretsChange } from "../../support/kill-while-secrets-change.js";

/** test/resilience/sweeps/kill-while-secrets-change.sweep.ts kills the daemon 100 times. */
const rounds = 25;

test(`a daemon keeps confirmed secrets after ${rounds} kills while secrets change`, () => killWhileSecretsChange(rounds), 5 * 60_000);
