import type { ErrorCode } from "../../../src/shared/errors.js";
import { hostname } from "node:os";
import { manifestOf, packFiles } from "../../support/pack-files.js";

/** One valid input for a call with the root key, and several invalid inputs. */
export interface Example {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
  /** Text fields of a form that is sent together with one file. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Archive of an upload. */
  readonly upload?: Buffer;
  /** Request bodies that the daemon must reject, each with the error code of the response. */
  readonly badBodies?: readonly (readonly [body: unknown, code: string])[];
  /** Code with which a daemon without a primary rejects the valid input. */
  readonly refusal?: ErrorCode;
}

/** Returns one example for each operation of the contract. */
export async function createExamples(facts: {
  rootKey: string;
  victimKeyId: number;
  pid: number;
  /** ETags of the configurations of `@team/files` and `@team/files-plugin`. */
  workerEtag: string;
  pluginEtag: string;
}): Promise<Readonly<Record<string, Example>>> {
  const version = { scope: "@team", name: "app", version: "1.0.0" };
  const configured = { ...version, name: "files" };
  const secret = { scope: "@team", name: "app", key: "STRIPE_KEY" };
  return {
    "discovery.runtime": { query: "challenge=random" },
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
    ...fileExamples("workerFiles", "workers/@team/files/1.0.0"),
    "workers.list": {},
    "workers.health": { query: "worker=@team/app" },
    "workers.upload": { upload: await packFiles({ "manifest.yaml": manifestOf("@team/fresh", "1.0.0"), "index.html": "fresh" }) },
    "workers.enable": { params: version },
    "workers.disable": { params: version },
    "workers.restart": { params: version },
    "workers.remove": { params: { scope: "@team", name: "deleted" } },
    "workers.removeVersion": { params: { scope: "@team", name: "halved", version: "1.0.0" } },
    "workers.logs": { params: { scope: "@team", name: "app" } },
    ...fileExamples("pluginFiles", "plugins/@team/files-plugin"),
    "plugins.list": {},
    "plugins.loaded": {},
    "plugins.upload": { upload: await packFiles({ "manifest.yaml": manifestOf("@team/fresh-plugin", "1.0.0"), "plugin.js": "" }) },
    "plugins.reload": {},
    "plugins.enable": { params: { name: encodeURIComponent("@team/plugin") } },
    "plugins.disable": { params: { name: encodeURIComponent("@team/plugin") } },
    "plugins.remove": { params: { name: encodeURIComponent("@team/deleted-plugin") } },
    "hosts.list": {},
    "hosts.ask": { query: "domain=added.example.org" },
    "hosts.add": {
      params: { host: "added.example.org" },
      body: { worker: "@team/app", version: "^1" },
      badBodies: [{}, { worker: 7 }, { worker: "A/B" }, { worker: "@team/app", version: "one" }, { worker: "@team/app", version: "" }].map(
        (body) => [body, "INVALID_REQUEST"] as const,
      ),
    },
    "hosts.remove": { params: { host: "added.example.org" } },
    "data.list": {},
    "data.download": { params: { scope: "@team", name: "app" } },
    "data.remove": { params: { scope: "@team", name: "app" } },
    "cron.list": { query: "worker=@team/app" },
    "cron.run": { params: { scope: "@team", name: "scheduled", index: "0" } },
    "isolates.list": {},
    "isolates.stop": { params: { pid: String(facts.pid) } },
    "instances.list": { query: "instance=self" },
    "instances.drain": { params: { instance: hostname() } },
    "instances.undrain": { params: { instance: hostname() } },
    "logs.list": { query: "worker=@team/app" },
    "secrets.list": { params: { scope: "@team", name: "app" } },
    "secrets.set": { params: secret, body: { value: "a value", stage: false }, badBodies: badSecrets },
    "secrets.remove": { params: secret, query: "force=true" },
    "secrets.listOfNamespace": { params: { namespace: "@team" } },
    "secrets.setOfNamespace": {
      params: { namespace: "@team", key: "SHARED" },
      body: { value: "a value" },
      badBodies: [...badSecrets, [{ value: "x", stage: true }, "INVALID_REQUEST"]],
    },
    "secrets.removeOfNamespace": { params: { namespace: "@team", key: "SHARED" } },
    "secrets.rotateKey": {},
    "workerConfig.show": { params: configured },
    "workerConfig.change": {
      params: configured,
      body: { etag: facts.workerEtag, set: { timeout: "20s" } },
      badBodies: badConfigChanges(facts.workerEtag, { timeout: "soon" }),
    },
    "pluginConfig.show": { params: { name: encodeURIComponent("@team/files-plugin") } },
    "pluginConfig.change": {
      params: { name: encodeURIComponent("@team/files-plugin") },
      body: { etag: facts.pluginEtag, set: { limit: 20 } },
      badBodies: badConfigChanges(facts.pluginEtag, { limit: "many" }),
    },
    "settings.show": {},
    "keys.list": {},
    "keys.meta": {},
    "keys.create": { body: { name: "made by an example", role: "viewer", expiresIn: "30d" }, badBodies: badKeys },
    "keys.rotate": {
      params: { id: String(facts.victimKeyId) },
      body: { overlap: "1h" },
      badBodies: ["", "soon", "-1h", "1.5d2h", "31d", " 1h", "24", 24, null].map((overlap) => [{ overlap }, "INVALID_REQUEST"] as const),
    },
    "keys.revoke": { params: { id: String(facts.victimKeyId) } },
    "index.show": {},
    "index.resync": {
      body: { mode: "accept-primary" },
      refusal: "INDEX_NOT_DIVERGED",
      badBodies: [{}, { mode: "from-primary" }, { mode: "from-cache", force: true }].map((body) => [body, "INVALID_REQUEST"] as const),
    },
    "events.stream": {},
    "audit.list": {},
    "metrics.text": {},
    "metrics.show": {},
    "metrics.history": { query: "range=1h" },
    "metrics.sparklines": {},
    "documentation.openapi": {},
    "documentation.page": {},
  };
}

function badConfigChanges(etag: string, badSet: Readonly<Record<string, unknown>>): NonNullable<Example["badBodies"]> {
  const shapes = [{}, { etag }, { set: {} }, { etag, set: {}, yaml: "" }, { etag: 7, set: {} }, { etag, set: [] }, { etag, yaml: 7 }];
  return [
    ...shapes.map((body) => [body, "INVALID_REQUEST"] as const),
    [{ etag: '"another"', set: {} }, "PRECONDITION_FAILED"],
    [{ etag, set: badSet }, "INVALID_PACKAGE_METADATA"],
    [{ etag, set: { unheardOf: 1 } }, "INVALID_PACKAGE_METADATA"],
    [{ etag, yaml: "a: [" }, "INVALID_PACKAGE_METADATA"],
  ];
}

/** These operations need a package with the files of `fileExampleNames`. */
function fileExamples(resource: string, packageFolder: string): Readonly<Record<string, Example>> {
  const noPath = [{}, { path: "" }, { path: 7 }, { path: null }, { path: ["a"] }].map((body) => [body, "PATH_REQUIRED"] as const);
  const noPaths = [{}, { paths: [] }, { paths: "a" }, { paths: [""] }, { paths: [1] }].map((body) => [body, "PATH_REQUIRED"] as const);
  const outside = `${packageFolder}/../../@other`;
  const examples: Readonly<Record<string, Example>> = {
    list: { query: `path=${packageFolder}` },
    download: { query: `path=${packageFolder}/kept.txt` },
    downloadBatch: { query: `paths=${packageFolder}/kept.txt&paths=${packageFolder}` },
    mkdir: { body: { path: `${packageFolder}/made/inner` }, badBodies: [...noPath, [{ path: outside }, "PATH_TRAVERSAL"]] },
    rename: {
      body: { path: `${packageFolder}/renamed.txt`, newName: "named.txt" },
      badBodies: [
        ...noPath,
        [{ path: `${packageFolder}/renamed.txt` }, "INVALID_REQUEST"],
        [{ path: `${packageFolder}/renamed.txt`, newName: "../x" }, "PATH_TRAVERSAL"],
        [{ path: `${packageFolder}/renamed.txt`, newName: "kept.txt" }, "PATH_EXISTS"],
        [{ path: `${packageFolder}/missing.txt`, newName: "x" }, "PATH_NOT_FOUND"],
        [{ path: packageFolder, newName: "2.0.0" }, "PATH_NOT_WRITABLE"],
      ],
    },
    move: {
      body: { path: `${packageFolder}/moved.txt`, destPath: `${packageFolder}/folder` },
      badBodies: [
        ...noPath,
        [{ path: `${packageFolder}/moved.txt` }, "PATH_REQUIRED"],
        [{ path: `${packageFolder}/folder`, destPath: `${packageFolder}/folder/in` }, "INVALID_REQUEST"],
      ],
    },
    moveBatch: { body: { paths: [`${packageFolder}/moved-too.txt`], destPath: `${packageFolder}/folder` }, badBodies: noPaths },
    upload: { fields: { path: packageFolder, paths: "sent/file.txt" } },
    remove: {
      body: { path: `${packageFolder}/deleted.txt` },
      badBodies: [...noPath, [{ path: packageFolder.split("/")[0] }, "PATH_NOT_WRITABLE"]],
    },
    removeBatch: { body: { paths: [`${packageFolder}/deleted-too.txt`, `${packageFolder}/missing`] }, badBodies: noPaths },
  };
  return Object.fromEntries(Object.entries(examples).map(([name, example]) => [`${resource}.${name}`, example]));
}

/** Files that the package must contain for the valid inputs to succeed. */
export const fileExampleNames = [
  "kept.txt",
  "renamed.txt",
  "moved.txt",
  "moved-too.txt",
  "deleted.txt",
  "deleted-too.txt",
  "folder/file.txt",
];

const badSecrets: NonNullable<Example["badBodies"]> = [
  {},
  { value: "" },
  { value: 7 },
  { value: null },
  { value: ["x"] },
  { value: "a\0b" },
  { value: "\u001b[31m" },
  { value: "\ud800" },
  { value: "x".repeat(32 * 1024 + 1) },
  { value: "é".repeat(16 * 1024 + 1) },
  { value: "x", extra: 1 },
].map((body) => [body, "INVALID_REQUEST"]);

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
  ...["", "0d", "-1d", "1.5d", "1e3d", "7", "7D", " 7d", "7d ", "７d", "30s", "1H", "5mi", "101y", "999999y", "Never", 30, null].map(
    (expiresIn) => [{ ...viewer, expiresIn }, "INVALID_EXPIRATION"] as const,
  ),
];
