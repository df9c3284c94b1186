import { test } from "vitest";
import { killWhileSecretsChange } from "../../support/kill-while-secrets-change.js";

const rounds = 100;

test(`a daemon keeps confirmed secrets after ${rounds} kills while secrets change`, () => killWhileSecretsChange(rounds));
