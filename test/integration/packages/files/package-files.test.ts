import { mkdir, readdir, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { request } from "undici";
import { fromBufferPromise } from "yauzl";
import { connect, uploadOf } from "../../../support/connect.js";
import { manifestOf, packFiles } from "../../../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../../../support/start-daemon.js";
import type { Client } from "../../../../src/shared/client.js";

let daemon: TestDaemon;
let root: Client;
let unitCount = 0;

beforeAll(async () => {
  daemon = await startDaemon();
  root = connect(daemon.url, daemon.rootKey);
});

afterAll(() => daemon.dispose());

/** Installs a new worker with these files. Returns the path of its package folder, its directory and its name. */
async function addWorker(files: Record<string, string>): Promise<{ unit: string; folder: string; name: string }> {
  unitCount += 1;
  const name = `w${unitCount}`;
  await root.workers.upload({ file: uploadOf("a.tgz", await packFiles({ ...files, "manifest.yaml": manifestOf(name, "1.0.0") })) });
  return { unit: `workers/${name}/1.0.0`, folder: path.join(daemon.directory, "workers", name, "1.0.0"), name };
}

const put = (folder: string, files: Record<string, string>) =>
  root.workerFiles.upload({
    fields: { path: folder, paths: Object.keys(files) },
    files: Object.entries(files).map(([name, text]) => uploadOf(path.basename(name), Buffer.from(text))),
  });
const served = async (target: string) => {
  const answer = await request(`${daemon.url}${target}`);
  return [answer.statusCode, await answer.body.text()] as const;
};
const download = (query: string, headers: Record<string, string> = {}, method: "GET" | "HEAD" = "GET") =>
  request(`${daemon.url}/api/workers/files/${query}`, { method, headers: { "x-api-key": daemon.rootKey, ...headers } });
/** Streams its response over 1 s. */
const slowWorker = (text: string) => `
    const pause = () => new Promise((resolve) => setTimeout(resolve, 300));
    export default { fetch: () => new Response(new ReadableStream({ async start(controller) {
      for (const piece of ["${text} ", "to ", "the ", "end"]) { controller.enqueue(new TextEncoder().encode(piece)); await pause(); }
      controller.close();
    } })) };`;
const greeter = (text: string) => `export default { routes: { fetch: () => new Response("${text}") } };`;
const rejectsWith = (call: Promise<unknown>, code: string) => expect(call).rejects.toMatchObject({ code });
/** Returns the number of open files and folders of packages. */
async function openPackageFiles(): Promise<number> {
  const folder = `/proc/${daemon.process.pid}/fd`;
  const targets = await Promise.all((await readdir(folder)).map((fd) => readlink(path.join(folder, fd)).catch(() => "")));
  return targets.filter((target) => target.startsWith(path.join(daemon.directory, "workers/"))).length;
}
const namesIn = async (folder: string) => (await root.workerFiles.list({ query: { path: folder } })).data.entries.map(({ name }) => name);

test("the files API lists the package directories at the empty path", async () => {
  await mkdir(path.join(daemon.directory, "workers", ".hidden"), { recursive: true });
  const { name } = await addWorker({ "index.html": "hello" });

  expect((await root.workerFiles.list({ query: {} })).data).toMatchObject({ path: "", entries: [{ name: "workers", isDirectory: true }] });
  expect((await root.workerFiles.list({ query: { path: "/" } })).data.path).toBe("");
  const { entries } = (await root.workerFiles.list({ query: { path: "/workers/" } })).data;
  expect(entries.filter((entry) => entry.name.startsWith("."))).toEqual([]);
  expect(entries).toContainEqual({ name, path: `workers/${name}`, isDirectory: true, size: 0, updatedAt: expect.any(Number) as number });
  await rejectsWith(root.workerFiles.list({ query: { path: "workers/.hidden" } }), "PATH_NOT_FOUND");
});

test("a site serves the new content of a file before the upload call returns", async () => {
  const { unit, name, folder } = await addWorker({ "index.html": "old", "asset.js": "old" });
  expect(await served(`/${name}/`)).toEqual([200, "old"]);

  await put(unit, { "index.html": "new", "deep/er/page.html": "<p>deep" });

  expect(await served(`/${name}/`)).toEqual([200, "new"]);
  expect(await served(`/${name}/asset.js`)).toEqual([200, "old"]);
  expect(await served(`/${name}/deep/er/page.html`)).toEqual([200, "<p>deep"]);
  expect((await stat(path.join(folder, "deep"))).mode & 0o777).toBe(0o755);
  expect((await stat(path.join(folder, "index.html"))).mode & 0o777).toBe(0o644);
});

test("a worker runs new code immediately, and the old code completes running requests", async () => {
  const { unit, name } = await addWorker({ "index.js": slowWorker("old") });
  const begun = await request(`${daemon.url}/${name}/`);

  await put(unit, { "index.js": slowWorker("new") });

  expect(await served(`/${name}/`)).toEqual([200, "new to the end"]);
  expect(await begun.body.text()).toBe("old to the end");
});

test("a new manifest is in effect before the upload call returns", async () => {
  const { unit, name } = await addWorker({ "index.html": "page", "other.html": "other" });

  await put(unit, { "manifest.yaml": `${manifestOf(name, "1.0.0")}entrypoint: other.html\n` });
  expect(await served(`/${name}/`)).toEqual([200, "other"]);
  await put(unit, { "manifest.yaml": `${manifestOf(name, "1.0.0")}enabled: false\n` });

  expect((await served(`/${name}/`))[0]).toBe(404);
});

test("the files API can create a worker version file by file and delete empty folders", async () => {
  await root.workerFiles.mkdir({ body: { path: "workers/@made/by-hand/2.0.0" } });
  await put("workers/@made/by-hand/2.0.0", { "index.html": "made", "manifest.yaml": manifestOf("@made/by-hand", "2.0.0") });
  expect(await served("/@made/by-hand/")).toEqual([200, "made"]);

  await root.workerFiles.remove({ body: { path: "workers/@made/by-hand/2.0.0" } });

  expect((await served("/@made/by-hand/"))[0]).toBe(404);
  expect(await readdir(path.join(daemon.directory, "workers"))).not.toContain("@made");
});

test("the files API renames, moves and deletes files, but a rename replaces no file", async () => {
  const { unit } = await addWorker({ "index.html": "", "a.txt": "a", "b.txt": "b", "sub/c.txt": "c" });

  await root.workerFiles.rename({ body: { path: `${unit}/a.txt`, newName: "ä.txt" } });
  await root.workerFiles.move({ body: { path: `${unit}/ä.txt`, destPath: `${unit}/sub` } });
  await root.workerFiles.move({ body: { path: `${unit}/b.txt`, destPath: `${unit}/sub/d.txt` } });
  expect(await namesIn(`${unit}/sub`)).toEqual(["c.txt", "d.txt", "ä.txt"]);
  await rejectsWith(root.workerFiles.rename({ body: { path: `${unit}/sub/c.txt`, newName: "d.txt" } }), "PATH_EXISTS");
  await rejectsWith(root.workerFiles.mkdir({ body: { path: `${unit}/sub` } }), "PATH_EXISTS");
  await rejectsWith(put(unit, { sub: "a file" }), "PATH_EXISTS");
  const moved = await root.workerFiles.moveBatch({ body: { paths: [`${unit}/sub/c.txt`, `${unit}/none`], destPath: unit } });
  expect(moved).toMatchObject({ data: { errors: [{ path: `${unit}/none`, code: "PATH_NOT_FOUND" }] } });
  expect(await root.workerFiles.removeBatch({ body: { paths: [`${unit}/sub`, `${unit}/c.txt`] } })).toEqual({ success: true });

  expect(await namesIn(unit)).toEqual(["index.html", "manifest.yaml"]);
});

test("the files API writes no file when the upload contains an invalid path", async () => {
  const { unit } = await addWorker({ "index.html": "old" });

  await rejectsWith(put(unit, { "index.html": "new", "../../x": "out" }), "PATH_TRAVERSAL");
  await rejectsWith(put(unit, { "index.html": "new", a: "file", "a/b": "in it" }), "INVALID_REQUEST");
  await rejectsWith(
    root.workerFiles.upload({ fields: { path: unit, paths: ["one", "two"] }, files: [uploadOf("x", Buffer.from("x"))] }),
    "INVALID_REQUEST",
  );
  await rejectsWith(root.workerFiles.upload({ fields: { path: unit }, files: [] }), "NO_FILE_PROVIDED");

  expect(await namesIn(unit)).toEqual(["index.html", "manifest.yaml"]);
  expect(await readdir(path.join(daemon.directory, "state", "spool"))).toEqual([]);
});

test("the files API sends a file or byte ranges, always as an attachment", async () => {
  const { unit, folder } = await addWorker({ "index.html": "", empty: "" });
  await writeFile(path.join(folder, 'name é".txt'), "0123456789");
  const query = `download?path=${encodeURIComponent(`${unit}/name é".txt`)}`;

  const whole = await download(query);
  expect([whole.statusCode, await whole.body.text()]).toEqual([200, "0123456789"]);
  expect(whole.headers).toMatchObject({
    "content-disposition": `attachment; filename="name __.txt"; filename*=UTF-8''name%20%C3%A9%22.txt`,
    "content-length": "10",
    "accept-ranges": "bytes",
    "x-content-type-options": "nosniff",
    "content-type": "application/octet-stream",
  });
  const etag = String(whole.headers.etag);
  const part = await download(query, { range: "bytes=2-4", "if-range": etag });
  expect([part.statusCode, await part.body.text(), part.headers["content-range"]]).toEqual([206, "234", "bytes 2-4/10"]);
  const beyond = await download(query, { range: "bytes=10-" });
  expect([beyond.statusCode, await beyond.body.text(), beyond.headers["content-range"]]).toEqual([416, "", "bytes */10"]);
  const again = await download(query, { "if-none-match": etag });
  expect([again.statusCode, await again.body.text()]).toEqual([304, ""]);
  const head = await download(query, {}, "HEAD");
  expect([head.statusCode, await head.body.text(), head.headers["content-length"]]).toEqual([200, "", "10"]);
  const empty = await download(`download?path=${unit}/empty`);
  expect([empty.statusCode, await empty.body.text()]).toEqual([200, ""]);
});

test("the ETag of a worker's source file stays the same after an isolate starts", async () => {
  const { unit, name } = await addWorker({ "index.js": "export default { fetch: () => new Response('ok') };" });
  const query = `download?path=${unit}/index.js`;
  const before = (await download(query, {}, "HEAD")).headers.etag;
  expect(await (await fetch(`${daemon.url}/${name}/`)).text()).toBe("ok");
  expect((await download(query, {}, "HEAD")).headers.etag).toBe(before);
});

test("the files API sends folders as valid ZIP archives without links", async () => {
  const { unit, folder } = await addWorker({ "index.html": "page", "sub/a.txt": "a", "sub/b.bin": "b".repeat(300_000) });
  await mkdir(path.join(folder, "empty"));
  await symlink("/etc/passwd", path.join(folder, "sub", "link"));

  const one = await listZip(await download(`download?path=${unit}`));
  const both = await listZip(await download(`download-batch?paths=${unit}/sub&paths=${unit}/index.html&paths=${unit}/sub/a.txt`));

  expect(one).toEqual(["empty/", "index.html", "manifest.yaml", "sub/", "sub/a.txt", "sub/b.bin"]);
  expect(both).toEqual(["a.txt", "index.html", "sub/a.txt", "sub/b.bin"]);
});

test("the files API closes all files when the client disconnects during a download", async () => {
  const { unit, folder } = await addWorker({ "index.html": "page" });
  for (let index = 0; index < 3; index += 1) await writeFile(path.join(folder, `large-${index}`), Buffer.alloc(24 * 1024 * 1024, index));
  await served("/nothing");
  const before = await openPackageFiles();

  for (const query of [`download?path=${unit}/large-0`, `download?path=${unit}`, `download-batch?paths=${unit}/large-1&paths=${unit}`]) {
    const answer = await download(query);
    await answer.body[Symbol.asyncIterator]().next();
    answer.body.destroy();
  }
  await (await download(`download?path=${unit}`, {}, "HEAD")).body.dump();

  await expect.poll(openPackageFiles).toBeLessThanOrEqual(before);
});

test("the files API lists, replaces and deletes links without following the links", async () => {
  const { unit, folder } = await addWorker({ "index.html": "page", "real/a.txt": "a" });
  await writeFile(path.join(daemon.directory, "outside.txt"), "outside");
  await symlink(path.join(daemon.directory, "outside.txt"), path.join(folder, "file-link"));
  await symlink("real", path.join(folder, "folder-link"));

  expect((await root.workerFiles.list({ query: { path: unit } })).data.entries.find(({ name }) => name === "folder-link")).toMatchObject({
    isDirectory: false,
  });
  for (const target of ["file-link", "folder-link", "folder-link/a.txt"]) {
    const answer = await download(`download?path=${unit}/${target}`);
    expect([target, answer.statusCode]).toEqual([target, 400]);
    await answer.body.dump();
  }
  await rejectsWith(root.workerFiles.list({ query: { path: `${unit}/folder-link` } }), "PATH_TRAVERSAL");
  await rejectsWith(put(`${unit}/folder-link`, { "a.txt": "new" }), "PATH_TRAVERSAL");
  await put(unit, { "file-link": "now a file" });
  await root.workerFiles.remove({ body: { path: `${unit}/folder-link` } });

  expect(await readFile(path.join(daemon.directory, "outside.txt"), "utf8")).toBe("outside");
  expect(await readFile(path.join(folder, "real", "a.txt"), "utf8")).toBe("a");
  expect(await readFile(path.join(folder, "file-link"), "utf8")).toBe("now a file");
});

test("a change of a plugin file reloads the plugin before the call returns", async () => {
  const manifest = manifestOf("@team/greeter", "1.0.0", "base: /greeter\n");
  await root.plugins.upload({ file: uploadOf("p.tgz", await packFiles({ "manifest.yaml": manifest, "plugin.js": greeter("old") })) });
  expect(await served("/greeter/")).toEqual([200, "old"]);

  await root.pluginFiles.upload({ fields: { path: "plugins/@team/greeter" }, files: [uploadOf("plugin.js", Buffer.from(greeter("new")))] });
  expect(await served("/greeter/")).toEqual([200, "new"]);
  await root.pluginFiles.remove({ body: { path: "plugins/@team/greeter" } });

  expect((await served("/greeter/"))[0]).toBe(404);
});

test("the files API adds a number to equal folder names, and protects hidden folders", async () => {
  const directory = path.join(daemon.directory, "more");
  const directories = ["a/apps", "b/apps", ".image"].map((name) => path.join(directory, name));
  for (const folder of directories) await mkdir(path.join(folder, "x", "1.0.0"), { recursive: true });
  const home = path.join(directory, "home");
  await mkdir(home, { recursive: true });
  const other = await startDaemon({ directory: home, env: { RUNTIME_WORKER_DIRS: directories.join(":") } });
  try {
    const client = connect(other.url, other.rootKey);
    expect((await client.workerFiles.list({ query: {} })).data.entries.map(({ name }) => name)).toEqual(["apps", "apps-2", ".image"]);
    await rejectsWith(client.workerFiles.mkdir({ body: { path: ".image/x/1.0.0/made" } }), "PATH_NOT_WRITABLE");
    await client.workerFiles.mkdir({ body: { path: "apps-2/x/1.0.0/made" } });
    expect(await readdir(path.join(directories[1] as string, "x", "1.0.0"))).toEqual(["made"]);
    expect(await readdir(path.join(directories[2] as string, "x", "1.0.0"))).toEqual([]);
  } finally {
    await other.dispose();
    await rm(directory, { recursive: true, force: true });
  }
});

/** Returns the names in a zip and checks all entries. */
async function listZip(answer: Awaited<ReturnType<typeof download>>): Promise<string[]> {
  expect(answer.statusCode).toBe(200);
  const zip = await fromBufferPromise(Buffer.from(await answer.body.arrayBuffer()));
  const names: string[] = [];
  for await (const entry of zip.eachEntry()) {
    const bytes = entry.fileName.endsWith("/") ? 0 : (await buffer(await zip.openReadStreamPromise(entry))).length;
    expect(bytes).toBe(entry.uncompressedSize);
    names.push(entry.fileName);
  }
  return names.toSorted();
}

test("the files API overwrites a file only if the client's ETag matches the file", async () => {
  const { unit, folder } = await addWorker({ "index.html": "as read", "other.txt": "other" });
  const file = path.join(folder, "index.html");
  const tagOf = async (name: string) => {
    const answer = await download(`download?path=${unit}/${name}`, {}, "HEAD");
    await answer.body.dump();
    return String(answer.headers["etag"]);
  };
  const write = (text: string, ifMatch: string[]) =>
    root.workerFiles.upload({ fields: { path: unit, paths: ["index.html"], ifMatch }, files: [uploadOf("x", Buffer.from(text))] });

  const read = await tagOf("index.html");
  await writeFile(file, "written by another");
  await rejectsWith(write("mine", [read]), "PRECONDITION_FAILED");
  expect(await readFile(file, "utf8")).toBe("written by another");

  const now = await tagOf("index.html");
  await rejectsWith(write("mine", [now, now]), "INVALID_REQUEST");
  await rejectsWith(write("mine", [await tagOf("other.txt")]), "PRECONDITION_FAILED");
  expect(await readFile(file, "utf8")).toBe("written by another");
  await write("mine", [`W/${now}`]);
  expect(await readFile(file, "utf8")).toBe("mine");
  await rejectsWith(write("twice", [now]), "PRECONDITION_FAILED");

  const last = await tagOf("index.html");
  await rm(file);
  await rejectsWith(write("again", [last]), "PRECONDITION_FAILED");
  const both = { path: unit, paths: ["index.html", "other.txt"], ifMatch: [last, await tagOf("other.txt")] };
  await rejectsWith(
    root.workerFiles.upload({ fields: both, files: ["a", "b"].map((text) => uploadOf("x", Buffer.from(text))) }),
    "PRECONDITION_FAILED",
  );
  expect(await readFile(path.join(folder, "other.txt"), "utf8")).toBe("other");
  await expect(stat(file)).rejects.toMatchObject({ code: "ENOENT" });
});
