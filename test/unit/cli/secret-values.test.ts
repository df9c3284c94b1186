import { expect, test } from "vitest";
import { looksSecretValue } from "../../../src/cli/validate/secret-values.js";

test.each([
  ["STRIPE", ["sk", "live", "1234567890abcdef"].join("_")],
  ["A", `ghp_${"a1".repeat(18)}`],
  ["A", "-----BEGIN EC PRIVATE KEY-----\nabc"],
  ["A", "AKIAABCDEFGHIJKLMNOP"],
  ["A", `eyJ${"a".repeat(20)}.eyJ${"b".repeat(20)}.c`],
  ["DATABASE", "postgres://shop:hunter2@db.internal/shop"],
  ["DB_PASSWORD", "correct-horse"],
  ["STRIPE_KEY", "0123456789"],
  ["apiKey", "x"],
  ["TOKEN", "12345678"],
])("runtimectl treats %s=%s as a secret if the value has more than one character", (name, value) => {
  expect(looksSecretValue(name, value)).toBe(value.length > 1);
});

test.each([
  ["LOG_LEVEL", "debug"],
  ["GREETING", "a sentence that is longer than a key"],
  ["PUBLIC_KEY", "0123456789abcdef"],
  ["VITE_API_KEY", "0123456789abcdef"],
  ["TOKEN_URL", "https://auth.example.org/token"],
  ["DATABASE", "postgres://db.internal/shop"],
  ["PASSWORD", "change"],
  ["KEY_NAME", "the-name-of-a-key"],
  ["MONKEY", "0123456789abcdef"],
])("runtimectl does not treat the variable %s=%s as a secret", (name, value) => {
  expect(looksSecretValue(name, value)).toBe(false);
});
