import { readdir } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, uploadOf } from "../../support/connect.js";
import { packFiles } from "../../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { settledDigest } from "../../support/settled-digest.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession, succeeded } from "./shell-session.js";

const simultaneousDeployments = 4;

let daemon: TestDaemon;
let shell: ShellSession;

beforeAll(async () => {
  [daemon, shell] = await Promise.all([startDaemon(), ShellSession.open()]);
  await shell.signIn(daemon);
});

afterAll(async () => {
  await daemon?.dispose();
  await shell?.close();
});

const codeServing = (text: string) => `export default { fetch: () => new Response(${JSON.stringify(text)}) };`;
interface Written {
  readonly name?: string;
  readonly code?: string;
  readonly version?: string;
}
const write = (folder: string, text: string, { name = folder, code = codeServing(text), version }: Written = {}) =>
  writeTree(shell.home, {
    [`${folder}/manifest.yaml`]: `name: ${name}\n${version === undefined ? "" : `version: ${version}\n`}`,
    [`${folder}/index.js`]: code,
  });
const bodyOf = async (name: string) => (await fetch(`${daemon.url}/${name}/`)).text();
const workerNamed = async (name: string) =>
  (await connect(daemon.url, daemon.rootKey).workers.list()).find((worker) => worker.name === name);

async function deployJson(words: string): Promise<Record<string, unknown>> {
  return JSON.parse(succeeded(await shell.run(`deploy ${words} --json`)).stdout) as Record<string, unknown>;
}

/** Returns the flags that the hint of the error suggests. */
async function suggestedFlags(words: string, message: string): Promise<string> {
  const run = await shell.run(`deploy ${words}`);
  expect(run, run.stderr).toMatchObject({ status: 7, stdout: "" });
  expect(run.stderr).toContain(`error: ${message}; nothing was uploaded\n`);
  return /^hint: add ([^,]+),/m.exec(run.stderr)?.[1] ?? "";
}

/** Installs a worker as `latest`, as an upload without a version does. */
async function uploadLatest(name: string): Promise<void> {
  const archive = await packFiles({ "manifest.yaml": `name: ${name}`, "index.js": codeServing("uploaded") });
  await connect(daemon.url, daemon.rootKey).workers.upload({ file: uploadOf("package.tgz", archive), query: {} });
}

describe("`deploy` of a worker that declares no version", () => {
  test("writes the next version into the archive and leaves the folder unchanged", async () => {
    await write("counted", "one");
    const before = await settledDigest(path.join(shell.home, "counted"));
    expect(await deployJson("counted")).toMatchObject({ version: "0.1.0", action: "install", before: null });
    expect(await settledDigest(path.join(shell.home, "counted"))).toBe(before);
    await write("counted", "two");
    expect(await deployJson("counted --message second")).toMatchObject({ version: "0.1.1", before: "0.1.0" });
    expect(await bodyOf("counted")).toBe("two");
  });

  test("uploads nothing for unchanged content, with and without --dry-run", async () => {
    expect(await deployJson("counted")).toMatchObject({ version: "0.1.1", action: "none", enabled: true });
    const dryRun = await shell.run("deploy counted --dry-run --exit-code");
    expect(dryRun, dryRun.stderr).toMatchObject({ status: 0 });
    expect((await workerNamed("counted"))?.versions).toEqual(["0.1.1", "0.1.0"]);
  });

  test("runs --check for unchanged content, and rejects --dry-run together with --build", async () => {
    expect(await shell.run("deploy counted --check /=418 --check-timeout 1s")).toMatchObject({ status: 12 });
    expect(await shell.run("deploy counted --dry-run --build")).toMatchObject({ status: 2 });
  });

  test("assigns a new version when the content equals a version that a rollback disabled", async () => {
    succeeded(await shell.run("workers rollback counted --yes"));
    expect(await bodyOf("counted")).toBe("one");
    expect(await deployJson("counted")).toMatchObject({ version: "0.1.2", action: "install" });
    expect(await bodyOf("counted")).toBe("two");
  });

  test(`assigns different versions to ${simultaneousDeployments} simultaneous uploads`, async () => {
    const folders = Array.from({ length: simultaneousDeployments }, (_, index) => `raced-${index}`);
    for (const folder of folders) await write(folder, folder, { name: "raced" });
    const runs = await Promise.all(folders.map((folder) => shell.runProgram(`deploy ${folder} --json`)));
    for (const run of runs) succeeded(run);
    const versions = runs.map(({ stdout }) => (JSON.parse(stdout) as { version: string }).version);
    expect(versions.toSorted()).toEqual(folders.map((_, index) => `0.1.${index}`));
    expect((await workerNamed("raced"))?.versions).toHaveLength(simultaneousDeployments);
  });
});

describe("`deploy` of a worker whose installed version is `latest`", () => {
  test("replaces `latest`; with --bump, disables `latest` and prints the undo command", async () => {
    await uploadLatest("rolling");
    await write("rolling", "replaced");
    expect(await deployJson("rolling")).toMatchObject({ version: "latest", action: "replace" });
    expect(await bodyOf("rolling")).toBe("replaced");
    expect(await deployJson("rolling")).toMatchObject({ version: "latest", action: "none" });

    await write("rolling", "bumped");
    const bumped = await deployJson("rolling --bump");
    expect(bumped).toMatchObject({ version: "0.1.0", before: "latest", undo: "runtimectl workers enable rolling@latest" });
    expect(await bodyOf("rolling")).toBe("bumped");
    expect(await workerNamed("rolling")).toMatchObject({ disabledVersions: ["latest"] });
    await write("rolling", "after");
    expect(await deployJson("rolling")).toMatchObject({ version: "0.1.1" });
    succeeded(await shell.run(String(bumped["undo"]).replace("runtimectl ", "")));
    expect(await bodyOf("rolling")).toBe("replaced");
  });

  test("assigns a version with --bump even if the content is unchanged", async () => {
    await uploadLatest("same");
    await write("same", "same");
    await deployJson("same");
    expect(await deployJson("same --bump")).toMatchObject({ version: "0.1.0", action: "install" });
    expect(await workerNamed("same")).toMatchObject({ disabledVersions: ["latest"] });
  });

  test("keeps `latest` enabled when the daemon rejects the upload with --bump", async () => {
    await uploadLatest("held");
    await write("held", "", { code: "throw new Error('no');" });
    const run = await shell.run("deploy held --bump");
    expect(run, run.stderr).toMatchObject({ status: 1 });
    expect(await workerNamed("held")).toMatchObject({ versions: ["latest"], disabledVersions: [] });
    expect(await bodyOf("held")).toBe("uploaded");
  });
});

describe("`deploy` of a worker whose declared version is installed", () => {
  test("suggests the patch above the highest version, with which the new code is served", async () => {
    await write("low", "one", { version: "0.1.0" });
    await deployJson("low");
    await deployJson("low --version 0.5.0");
    await write("low", "two", { version: "0.1.0" });
    const flags = await suggestedFlags("low", "low@0.1.0 is already installed");
    expect(flags).toBe("--version 0.5.1");
    await deployJson(`low ${flags}`);
    expect(await bodyOf("low")).toBe("two");
  });

  test("names the reason why --bump has no effect", async () => {
    const message = "low@0.1.0 is already installed, and --bump does not change a declared version";
    expect(await suggestedFlags("low --bump", message)).toBe("--version 0.5.2");
    expect((await workerNamed("low"))?.versions).toEqual(["0.5.1", "0.5.0", "0.1.0"]);
  });

  test("ignores a prerelease, which is not served beside a stable version", async () => {
    await write("early", "one", { version: "1.0.0" });
    await deployJson("early");
    await deployJson("early --version 2.0.0-rc.1");
    await write("early", "two", { version: "1.0.0" });
    const flags = await suggestedFlags("early", "early@1.0.0 is already installed");
    expect(flags).toBe("--version 1.0.1");
    await deployJson(`early ${flags}`);
    expect(await bodyOf("early")).toBe("two");
  });

  test("suggests --bump if `latest` is active, with which the new code is served", async () => {
    await uploadLatest("moving");
    await write("moving", "one", { version: "1.0.0" });
    await deployJson("moving");
    await write("moving", "two", { version: "1.0.0" });
    expect(await bodyOf("moving")).toBe("uploaded");
    const flags = await suggestedFlags("moving", "moving@1.0.0 is already installed");
    expect(flags).toBe("--version 1.0.1 --bump");
    await deployJson(`moving ${flags}`);
    expect(await bodyOf("moving")).toBe("two");
    expect(await workerNamed("moving")).toMatchObject({ disabledVersions: ["latest"] });
  });
});

test("clients lose no request while deployments succeed and fail", { timeout: 60_000 }, async () => {
  await write("loaded", "0");
  await deployJson("loaded");
  const load = { isOver: false, bodies: new Map<string, number>() };
  const client = async () => {
    while (!load.isOver) {
      const response = await fetch(`${daemon.url}/loaded/`);
      const body = `${response.status} ${await response.text()}`;
      load.bodies.set(body, (load.bodies.get(body) ?? 0) + 1);
    }
  };
  const clients = Array.from({ length: 8 }, client);
  for (const round of [1, 2, 3]) {
    await write("loaded", String(round));
    await deployJson("loaded");
    await write("loaded", "", { code: "export default { fetch() { throw new Error('broken'); } };" });
    const rejected = await shell.run("deploy loaded");
    expect(rejected.stderr).toContain("WORKER_CHECK_FAILED");
  }
  load.isOver = true;
  await Promise.all(clients);
  expect([...load.bodies.keys()].toSorted()).toEqual(["200 0", "200 1", "200 2", "200 3"]);
});

test("deploy leaves no files behind in the temporary folder", async () => {
  await write("tidy", "tidy");
  await deployJson("tidy");
  expect((await readdir(shell.home)).filter((name) => name.startsWith("runtimectl-"))).toEqual([]);
});
