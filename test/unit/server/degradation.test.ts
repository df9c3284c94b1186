import { expect, test } from "vitest";
import { degradationOf } from "../../../src/server/readiness.js";

const ofRegistry = "the registry does not have the blob sha256:1";
const ofPlugin = `The daemon cannot download the files of guard, because ${ofRegistry}. Upload the same package again.`;

/** Returns the degradation of a daemon with these problems. */
function degradation({ primary, registry, plugins = [] }: { primary?: string; registry?: string; plugins?: readonly string[] }) {
  const sharedPackages = { problem: () => registry, plugins: { problems: () => new Map(plugins.map((text) => [text, text])) } };
  const services = { store: { readState: () => ({ problem: primary }) }, sharedPackages };
  return degradationOf(services as unknown as Parameters<typeof degradationOf>[0]);
}

test("a daemon without problems is not degraded", () => {
  expect(degradation({})).toBeUndefined();
});

test("the problems of the primary and the registry are sentences", () => {
  const primary = "the primary of the key store cannot be reached (ECONNREFUSED)";
  expect(degradation({ primary, registry: "the registry cannot be reached (ECONNREFUSED)" })).toBe(
    "The primary of the key store cannot be reached (ECONNREFUSED). The registry cannot be reached (ECONNREFUSED).",
  );
});

test("a problem of the registry is not repeated if a plugin names it", () => {
  expect(degradation({ registry: ofRegistry, plugins: [ofPlugin] })).toBe(ofPlugin);
  const late = "the registry sent or received nothing for 2 s";
  expect(degradation({ registry: late, plugins: [ofPlugin] })).toBe(`The registry sent or received nothing for 2 s. ${ofPlugin}`);
});
