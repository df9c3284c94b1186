import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { connect, uploadOf } from "../support/connect.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { settledDigest } from "../support/settled-digest.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

type UploadQuery = NonNullable<NonNullable<Parameters<Client["workers"]["upload"]>[0]>["query"]>;

const serving = (text: string) => `export default { fetch: () => new Response(${JSON.stringify(text)}) };`;

let daemon: TestDaemon;
let root: Client;

beforeAll(async () => {
  daemon = await startDaemon();
  root = connect(daemon.url, daemon.rootKey);
});

afterAll(() => daemon.dispose());

async function upload(files: Record<string, string>, query: UploadQuery = { check: "true" }): Promise<unknown> {
  return root.workers.upload({ file: uploadOf("app.tgz", await packFiles(files)), query });
}

const uploadCode = (source: string, { manifest = "", version = "1.0.0" } = {}) =>
  upload({ "manifest.yaml": `${manifestOf("checked", version)}\n${manifest}`, "index.js": source });
const bodyOf = async (name = "checked") => (await fetch(`${daemon.url}/${name}/`)).text();
const versionsOf = async (name: string) => {
  const worker = (await root.workers.list()).find((row) => row.name === name);
  return { versions: worker?.versions, disabled: worker?.disabledVersions };
};
/** The digest covers the folder of one worker only, because standby isolates change other folders. */
const installed = (name = "checked") => settledDigest(path.join(daemon.directory, "workers", name));

describe("an upload with check=true", () => {
  beforeAll(() => uploadCode(serving("before")));

  test.each([
    ["with a syntax error", "export default { fetch( { return 1 }", 'SyntaxError: index.js:1:34: Expected "}" but found "1"'],
    ["that throws", 'throw new Error("no database");', "Error: no database"],
    ["that imports a missing file", 'import "./missing.js"; export default { fetch() {} };', "missing.js"],
    ["that exports no handler", "export const a = 1;", "fetch"],
  ])("is rejected when it contains code %s, and the installed version stays active", async (_, source, reason) => {
    const before = await installed();
    const refused = expect.objectContaining({ code: "WORKER_START_FAILED", message: expect.stringContaining(reason) as string });
    await expect(uploadCode(source)).rejects.toEqual(refused);
    expect(await installed()).toBe(before);
    expect(await bodyOf()).toBe("before");
  });

  test.each([
    ["that responds to / with 500", "export default { fetch: () => new Response(null, { status: 500 }) };", "", "the status 500"],
    ["that throws in its handler", "export default { fetch() { throw new Error('no user'); } };", "", "failed to handle the request"],
    ["that never responds", "export default { fetch: () => new Promise(() => {}) };", "timeout: 500ms", "did not respond within 500 ms"],
    [
      "that responds with 500 and an endless stream",
      "export default { fetch: () => new Response(new ReadableStream({ async pull(c) { await new Promise((r) => setTimeout(r, 50)); c.enqueue(new Uint8Array(1)); } }), { status: 500 }) };",
      "",
      "the status 500",
    ],
    ["that exits", "export default { fetch() { process.exit(3); } };", "", ""],
    [
      "that responds to the manifest's check with 404",
      serving("x").replace(") };", ", { status: 404 }) };"),
      "check: /up",
      "GET /up failed",
    ],
  ])("is rejected when the check fails, and the old version stays active (code %s)", async (_, source, manifest, reason) => {
    const before = await installed();
    const refused = expect.objectContaining({ code: "WORKER_CHECK_FAILED", message: expect.stringContaining(reason) as string });
    await expect(uploadCode(source, { manifest })).rejects.toEqual(refused);
    expect(await installed()).toBe(before);
    expect(await bodyOf()).toBe("before");
  });

  test("returns the last 20 log lines and the file, line and column of the error", async () => {
    const source =
      "for (let n = 0; n < 50; n += 1) console.log(`line ${n}`);\nexport default {\n  fetch() { throw new Error('no user'); } };";
    const error = await uploadCode(source).catch((thrown: unknown) => thrown);
    const { log } = (error as { details: { log: string[] } }).details;
    expect(log).toHaveLength(20);
    expect(log.slice(-3)).toEqual(["line 49", "Error: no user", expect.stringMatching(/^ {4}at .*index\.js:3:19\)$/)]);
  });

  test.each([
    ["a status below 500 at /", "export default { fetch: () => new Response(null, { status: 404 }) };", ""],
    ["a redirect", "export default { fetch: () => new Response(null, { status: 302, headers: { location: '/login' } }) };", "check: /"],
    [
      "an endless stream",
      "export default { fetch: () => new Response(new ReadableStream({ start(c) { c.enqueue(new Uint8Array(1)); } })) };",
      "",
    ],
    [
      "the path and query of check only",
      "export default { fetch: (r) => new Response('', { status: r.url.endsWith('/up?a=b') ? 200 : 500 }) };",
      "check: /up?a=b",
    ],
  ])("is installed when the code responds with %s", async (_, source, manifest) => {
    const archive = { "manifest.yaml": `name: passes\nversion: 1.0.0\n${manifest}`, "index.js": source };
    await expect(upload(archive)).resolves.toMatchObject({ data: { worker: { name: "passes" } } });
  });

  test("succeeds for a static site and for a module whose page is a static asset", async () => {
    await expect(
      upload({ "manifest.yaml": "name: site\ncheck: /about", "index.html": "home", "about.html": "about" }),
    ).resolves.toBeTruthy();
    const assets = {
      "manifest.yaml": "name: assets\nassets: public",
      "index.js": "export default { fetch() { throw 1; } };",
      "public/index.html": "x",
    };
    await expect(upload(assets)).resolves.toBeTruthy();
  });

  test("adds nothing to the metrics when the version is rejected", async () => {
    await expect(
      uploadCode("export default { fetch: () => new Response(null, { status: 500 }) };", { version: "3.0.0" }),
    ).rejects.toThrow();
    const { workers } = await root.metrics.show({ query: {} });
    expect(workers.flatMap(({ name, version }) => (name === "checked" ? [version] : []))).toEqual(["1.0.0"]);
  });

  test("writes the position of a syntax error to the worker's log", async () => {
    await upload({ "manifest.yaml": "name: logged", "index.js": "\n\nexport default { fetch( { return 1 }" }, {});
    expect(await bodyOf("logged")).toContain("SyntaxError: index.js:3:34: ");
    const { entries } = await root.workers.logs({ params: { scope: "_", name: "logged" }, query: {} });
    const texts = entries.map(({ text }) => text);
    expect(texts).toContainEqual(expect.stringMatching(/index\.js:3:33:\n +3 │ export default/));
    expect(texts.join("\n")).not.toMatch(/at .*node:/);
  });
});

const onceServing = (text: string) => ({ "manifest.yaml": "name: once\nversion: 1.0.0", "index.js": serving(text) });

describe("an upload with newOnly=true", () => {
  test("is rejected when the version exists, and the installed version still serves", async () => {
    await upload(onceServing("first"), { newOnly: "true" });
    const before = await installed("once");
    await expect(upload(onceServing("second"), { newOnly: "true" })).rejects.toMatchObject({ code: "VERSION_EXISTS", status: 409 });
    expect(await installed("once")).toBe(before);
    expect(await bodyOf("once")).toBe("first");
  });

  test("succeeds for only one of 5 simultaneous uploads of a version", async () => {
    const uploads = await Promise.allSettled(
      Array.from({ length: 5 }, (_, index) =>
        upload({ "manifest.yaml": "name: raced\nversion: 1.0.0", "index.js": serving(String(index)) }, { newOnly: "true", check: "true" }),
      ),
    );
    const winners = uploads.flatMap(({ status }, index) => (status === "fulfilled" ? [String(index)] : []));
    expect(winners).toHaveLength(1);
    expect(await bodyOf("raced")).toBe(winners[0]);
  });
});

describe("an upload with disableLatest=true", () => {
  test.each([
    ["with a manifest", { "manifest.yaml": "# kept\nname: bumped\nenv: { A: b }" }],
    ["with only package.json", { "package.json": '{ "name": "bumped" }' }],
  ])("disables the version `latest` and serves the new version (package %s)", async (_, metadata) => {
    await upload({ ...metadata, "index.js": serving("latest") }, {});
    expect(await bodyOf("bumped")).toBe("latest");
    await upload({ "manifest.yaml": "name: bumped\nversion: 0.1.0", "index.js": serving("0.1.0") }, { disableLatest: "true" });
    expect(await bodyOf("bumped")).toBe("0.1.0");
    expect(await versionsOf("bumped")).toEqual({ versions: ["latest", "0.1.0"], disabled: ["latest"] });
    await root.workers.enable({ params: { scope: "_", name: "bumped", version: "latest" } });
    expect(await bodyOf("bumped")).toBe("latest");
    await root.workers.remove({ params: { scope: "_", name: "bumped" } });
  });

  test("changes nothing when the new version is rejected", async () => {
    await upload({ "manifest.yaml": "name: held", "index.js": serving("latest") }, {});
    const before = await installed("held");
    const broken = { "manifest.yaml": "name: held\nversion: 0.1.0", "index.js": "throw new Error('no')" };
    await expect(upload(broken, { disableLatest: "true", check: "true" })).rejects.toMatchObject({ code: "WORKER_START_FAILED" });
    expect(await installed("held")).toBe(before);
    expect(await bodyOf("held")).toBe("latest");
  });
});
