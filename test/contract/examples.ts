import { manifestOf, packFiles } from "../support/pack-files.js";

/** An input with which an operation succeeds when root calls it, and inputs with which it does not. */
export interface Example {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The archive of an upload. */
  readonly upload?: Buffer;
  /** Parsed bodies that are refused, and the code that each is refused with. */
  readonly badBodies?: readonly (readonly [body: unknown, code: string])[];
}

/** One example for each operation of the contract. */
export async function createExamples(facts: { rootKey: string; victimKeyId: number }): Promise<Readonly<Record<string, Example>>> {
  const version = { scope: "@team", name: "app", version: "1.0.0" };
  return {
    "discovery.runtime": {},
    "health.overall": {},
    "health.ready": {},
    "health.live": {},
    "session.show": {},
    "session.create": {
      body: { key: facts.rootKey },
      badBodies: [
        [{}, "INVALID_REQUEST"],
        [{ key: "" }, "INVALID_REQUEST"],
        [{ key: null }, "INVALID_REQUEST"],
        [{ key: 42 }, "INVALID_REQUEST"],
        [{ key: [facts.rootKey] }, "INVALID_REQUEST"],
        [{ key: { key: facts.rootKey } }, "INVALID_REQUEST"],
        [{ key: "k".repeat(513) }, "INVALID_REQUEST"],
        [{ key: "unknown" }, "INVALID_KEY"],
        [{ key: `${facts.rootKey} ` }, "INVALID_KEY"],
      ],
    },
    "session.remove": {},
    "workers.list": {},
    "workers.upload": { upload: await packFiles({ "manifest.yaml": manifestOf("@team/fresh", "1.0.0"), "index.html": "fresh" }) },
    "workers.enable": { params: version },
    "workers.disable": { params: version },
    "workers.restart": { params: version },
    "workers.remove": { params: { scope: "@team", name: "doomed" } },
    "workers.removeVersion": { params: { scope: "@team", name: "halved", version: "1.0.0" } },
    "workers.logs": { params: { scope: "@team", name: "app" } },
    "plugins.list": {},
    "plugins.loaded": {},
    "plugins.upload": { upload: await packFiles({ "manifest.yaml": manifestOf("@team/fresh-plugin", "1.0.0"), "plugin.js": "" }) },
    "plugins.reload": {},
    "plugins.enable": { params: { name: encodeURIComponent("@team/plugin") } },
    "plugins.disable": { params: { name: encodeURIComponent("@team/plugin") } },
    "plugins.remove": { params: { name: encodeURIComponent("@team/doomed-plugin") } },
    "keys.list": {},
    "keys.meta": {},
    "keys.create": { body: { name: "made by an example", role: "viewer", expiresIn: "30d" }, badBodies: badKeys },
    "keys.revoke": { params: { id: String(facts.victimKeyId) } },
    "metrics.text": {},
    "metrics.show": {},
    "documentation.openapi": {},
    "documentation.page": {},
  };
}

const named = { name: "never made" };
const viewer = { ...named, role: "viewer" };
const custom = { ...named, role: "custom", permissions: ["workers:read"] };

const badKeys: NonNullable<Example["badBodies"]> = [
  [{ role: "viewer" }, "INVALID_KEY_NAME"],
  [{ ...viewer, name: "" }, "INVALID_KEY_NAME"],
  [{ ...viewer, name: "  \t " }, "INVALID_KEY_NAME"],
  [{ ...viewer, name: "n".repeat(101) }, "INVALID_KEY_NAME"],
  [{ ...viewer, name: "red\u001b[31m" }, "INVALID_KEY_NAME"],
  [{ ...viewer, name: "two\nlines" }, "INVALID_KEY_NAME"],
  [{ ...viewer, name: "\u202egnp.exe" }, "INVALID_KEY_NAME"],
  [{ ...viewer, name: 7 }, "INVALID_KEY_NAME"],
  [{ ...viewer, name: ["a"] }, "INVALID_KEY_NAME"],
  [named, "INVALID_KEY_ROLE"],
  [{ ...named, role: "root" }, "INVALID_KEY_ROLE"],
  [{ ...named, role: "Admin" }, "INVALID_KEY_ROLE"],
  [{ ...named, role: "__proto__" }, "INVALID_KEY_ROLE"],
  [{ ...named, role: null }, "INVALID_KEY_ROLE"],
  [{ ...named, role: "custom" }, "MISSING_PERMISSIONS"],
  [{ ...custom, permissions: [] }, "MISSING_PERMISSIONS"],
  [{ ...custom, permissions: ["workers:fly"] }, "INVALID_PERMISSION"],
  [{ ...custom, permissions: ["workers:read", "*"] }, "INVALID_PERMISSION"],
  [{ ...custom, permissions: "workers:read" }, "INVALID_PERMISSION"],
  [{ ...custom, permissions: { 0: "workers:read" } }, "INVALID_PERMISSION"],
  [{ ...viewer, permissions: ["workers:read"] }, "INVALID_PERMISSION"],
  ...["team", "@", "@Team", "@team/app", "@team/", "@../x", "", "@*", "**", 3].map(
    (namespace) => [{ ...viewer, namespaces: ["@fine", namespace] }, "INVALID_NAMESPACE"] as const,
  ),
  [{ ...viewer, namespaces: [] }, "INVALID_NAMESPACE"],
  [{ ...viewer, namespaces: "@team" }, "INVALID_NAMESPACE"],
  ...["", "0d", "-1d", "1.5d", "1e3d", "7", "7D", " 7d", "7d ", "７d", "30s", "1h", "101y", "999999y", "Never", 30, null].map(
    (expiresIn) => [{ ...viewer, expiresIn }, "INVALID_EXPIRATION"] as const,
  ),
];
