import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, uploadOf } from "../support/connect.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { settledDigest } from "../support/settled-digest.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { treeDigest } from "../support/tree-digest.js";
import { climbing, foreign, linked, newNames, nowhere, outsideUnits, unit, unusable } from "./hostile-operands.js";

const secret = "a text that nobody may read";
let daemon: TestDaemon;
let workers: string;
let teamKey: string;

beforeAll(async () => {
  daemon = await startDaemon();
  workers = path.join(daemon.directory, "workers");
  const root = connect(daemon.url, daemon.rootKey);
  for (const name of ["@team/app", "@other/app", "plain"]) {
    const files = { "manifest.yaml": manifestOf(name, "1.0.0"), "index.html": name === "@team/app" ? name : secret, "sub/a.txt": "a" };
    await root.workers.upload({ file: uploadOf("a.tgz", await packFiles(files)) });
  }
  const body = { name: "team", role: "admin" as const, namespaces: ["@team"] };
  teamKey = (await root.keys.create({ body })).data.key;
  await mkdir(path.join(daemon.directory, "outside", "folder"), { recursive: true });
  await writeFile(path.join(daemon.directory, "outside", "secret.txt"), secret);
  await writeFile(path.join(daemon.directory, "outside", "folder", "secret.txt"), secret);
  await mkdir(path.join(workers, ".hidden"));
  await writeFile(path.join(workers, ".hidden", "secret.txt"), secret);
  const folder = path.join(workers, "@team", "app", "1.0.0");
  const links = {
    "link-file": "../../../../outside/secret.txt",
    "link-folder": "../../../../outside/folder",
    "link-absolute": path.join(daemon.directory, "outside"),
    "link-up": "..",
    "link-other": "../../../@other",
    "link-loop": "link-loop",
    "link-gone": "nowhere",
    "link-proc": "/proc/self/root",
  };
  for (const [name, target] of Object.entries(links)) await symlink(target, path.join(folder, name));
  await symlink("../@other", path.join(workers, "@team", "borrowed"));
  await symlink("../outside", path.join(workers, "escape"));
});

afterAll(() => daemon?.dispose());

interface Outcome {
  readonly status: number;
  readonly text: string;
}

async function call(key: string, method: string, target: string, body?: unknown): Promise<Outcome> {
  const answer = await request(`${daemon.url}/api/workers/files/${target}`, {
    method: method as "GET",
    headers: {
      "x-api-key": key,
      origin: new URL(daemon.url).origin,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    body: body === undefined ? null : JSON.stringify(body),
  });
  return { status: answer.statusCode, text: await answer.body.text() };
}

async function upload(key: string, folder: string, name: string): Promise<Outcome> {
  try {
    await connect(daemon.url, key).workerFiles.upload({
      fields: { path: folder, paths: [name] },
      files: [uploadOf("x", Buffer.from("x"))],
    });
    return { status: 200, text: "" };
  } catch (error) {
    const { status, code } = error as { status: number; code: string };
    return { status, text: code };
  }
}

const reads = (operand: string, key: string) => [
  call(key, "GET", `list?path=${encodeURIComponent(operand)}`),
  call(key, "GET", `download?path=${encodeURIComponent(operand)}`),
  call(key, "GET", `download-batch?paths=${encodeURIComponent(operand)}&paths=${encodeURIComponent(`${unit}/index.html`)}`),
];

/** Every operation that changes files at, to or from an operand. */
const writes = (operand: string, key: string) => [
  () => call(key, "POST", "mkdir", { path: operand }),
  () => call(key, "POST", "rename", { path: operand, newName: "taken.txt" }),
  () => call(key, "POST", "move", { path: operand, destPath: `${unit}/sub` }),
  () => call(key, "POST", "move", { path: `${unit}/index.html`, destPath: operand }),
  () => upload(key, operand, "x.txt"),
  () => call(key, "DELETE", "delete", { path: operand }),
];

const keys = () =>
  [
    ["root", daemon.rootKey],
    ["a key of @team", teamKey],
  ] as const;

async function everything(): Promise<string> {
  return `${await settledDigest(workers)} ${await treeDigest(path.join(daemon.directory, "outside"))} ${await treeDigest(path.join(daemon.directory, "plugins"))}`;
}

async function expectRefused(outcomes: Iterable<Outcome | Promise<Outcome>>, hint: string): Promise<void> {
  for (const outcome of outcomes) {
    const { status, text } = await outcome;
    expect([400, 403, 404, 409], `${hint}: ${status} ${text.slice(0, 200)}`).toContain(status);
    expect(text, hint).not.toContain(secret);
  }
}

describe("a call that reads files", () => {
  const always = [...climbing, ...nowhere, ...unusable];

  test.each(always.map((operand) => [operand.length > 60 ? `${operand.slice(0, 60)}…` : operand, operand]))(
    "is rejected for the path %j",
    async (_shown, operand) => {
      for (const [who, key] of keys()) await expectRefused(reads(operand, key), `${who}, ${JSON.stringify(operand)}`);
    },
  );

  test("is rejected for symbolic links to any target", async () => {
    for (const operand of [...linked, "workers/escape", "workers/escape/secret.txt", "workers/@team/borrowed/app/1.0.0/index.html"])
      for (const [who, key] of keys()) await expectRefused(reads(operand, key), `${who}, ${operand}`);
  });

  test("lists and zips only packages in the namespace of the key", async () => {
    for (const operand of foreign) await expectRefused(reads(operand, teamKey), operand);
    const { text } = await call(teamKey, "GET", "list?path=workers");
    expect((JSON.parse(text) as { data: { entries: { name: string }[] } }).data.entries.map(({ name }) => name)).toEqual(["@team"]);
    const zip = await call(teamKey, "GET", "download?path=workers");
    expect(zip.text).toContain("@team/app/1.0.0/index.html");
    expect(zip.text).not.toContain("@other");
    expect(zip.text).not.toContain("plain/");
    expect((await call(daemon.rootKey, "GET", "download?path=workers")).text).not.toContain(".hidden");
  });
});

test("the files API changes nothing when it rejects an operation", async () => {
  const before = await everything();
  const existing = [
    ...climbing,
    ...unusable,
    ...linked.filter((operand) => operand.split("/").length > 5),
    ...outsideUnits,
    "workers/.hidden/x",
    "state/x",
    "plugins/x/y",
  ];
  for (const [who, key] of keys())
    for (const operand of existing)
      for (const write of writes(operand, key)) await expectRefused([write()], `${who}, ${JSON.stringify(operand)}`);
  for (const operand of foreign) for (const write of writes(operand, teamKey)) await expectRefused([write()], operand);
  await expectRefused([call(daemon.rootKey, "POST", "rename", { path: `${unit}/index.html`, newName: "a/b" })], "a/b");
  for (const name of [...newNames, "..", "a\\b", "", "."]) {
    await expectRefused([call(daemon.rootKey, "POST", "rename", { path: `${unit}/index.html`, newName: name })], name);
    await expectRefused([call(daemon.rootKey, "POST", "mkdir", { path: `${unit}/${name}/made` })], name);
    await expectRefused([upload(daemon.rootKey, unit, `${name}/x`)], name);
  }

  expect(await everything()).toBe(before);
});

test("the files API rejects a manifest whose name is outside of the key's namespace", async () => {
  const root = connect(daemon.url, daemon.rootKey);
  const team = connect(daemon.url, teamKey);
  const stolen = '{ "name": "@other/app", "version": "9.0.0" }';
  await root.workers.upload({
    file: uploadOf(
      "a.tgz",
      await packFiles({ "manifest.yaml": manifestOf("@team/thief", "1.0.0"), "package.json": stolen, "index.html": "thief" }),
    ),
  });
  const thief = "workers/@team/thief/1.0.0";
  const put = (name: string, text: string) =>
    team.workerFiles.upload({ fields: { path: thief, paths: [name] }, files: [uploadOf("x", Buffer.from(text))] });
  await put("other.txt", manifestOf("@other/app", "9.0.0"));
  const before = await everything();

  const attempts = [
    put("manifest.yaml", manifestOf("@other/app", "9.0.0")),
    put("manifest.yml", "{ name: '@other/app' }"),
    put("package.json", '{ "name": "plain" }'),
    team.workerFiles.rename({ body: { path: `${thief}/other.txt`, newName: "manifest.yml" } }),
    team.workerFiles.move({ body: { path: `${thief}/other.txt`, destPath: `${unit}/manifest.yml` } }),
    team.workerFiles.remove({ body: { path: `${thief}/manifest.yaml` } }),
    team.workerFiles.rename({ body: { path: `${thief}/manifest.yaml`, newName: "kept.txt" } }),
    team.workerFiles.move({ body: { path: `${thief}/manifest.yaml`, destPath: `${unit}/kept.yaml` } }),
  ];

  for (const outcome of await Promise.allSettled(attempts))
    expect(outcome).toMatchObject({ status: "rejected", reason: { code: "NAMESPACE_DENIED" } });
  expect(await everything()).toBe(before);
  expect((await root.workers.list()).find(({ name }) => name === "@other/app")?.versions).toEqual(["1.0.0"]);
});

test("the files API does not follow a folder that is replaced by a link during a call", async () => {
  const folder = path.join(workers, "@team", "app", "1.0.0");
  const [real, aside, outside] = [
    path.join(folder, "swap"),
    path.join(folder, "swap-aside"),
    path.join(daemon.directory, "outside", "folder"),
  ];
  await mkdir(real);
  await writeFile(path.join(real, "secret.txt"), "harmless");
  const before = await treeDigest(path.join(daemon.directory, "outside"));
  const abort = new AbortController();
  const swapping = (async () => {
    while (!abort.signal.aborted) {
      await rename(real, aside);
      await insist(real, () => symlink(outside, real));
      await rm(real, { recursive: true, force: true });
      await insist(real, () => rename(aside, real));
    }
  })();

  for (let round = 0; round < 60; round += 1) {
    const outcomes = await Promise.all([
      call(daemon.rootKey, "GET", `download?path=${unit}/swap/secret.txt`),
      call(daemon.rootKey, "GET", `list?path=${unit}/swap`),
      upload(daemon.rootKey, `${unit}/swap`, `made-${round}.txt`),
      call(daemon.rootKey, "DELETE", "delete", { path: `${unit}/swap/made-${round - 1}.txt` }),
      call(daemon.rootKey, "POST", "mkdir", { path: `${unit}/swap/folder-${round}` }),
    ]);
    for (const { text } of outcomes) expect(text).not.toContain(secret);
  }
  abort.abort();
  await swapping;

  expect(await treeDigest(path.join(daemon.directory, "outside"))).toBe(before);
});

/** Repeats a step until it succeeds. The step fails if an upload has created the folder `place` again. */
async function insist(place: string, step: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await step();
    } catch {
      await rm(place, { recursive: true, force: true }).catch(() => undefined);
    }
  }
}
