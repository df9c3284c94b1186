import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

const files = 150;
const secret = "SECRET";
const largeBytes = 300 * 1024;

/** Swaps a folder with a link to a folder outside of the site in a loop, until it is killed. */
const swapping = `
const { renameSync } = require("node:fs");
const [folder, link] = process.argv.slice(1);
process.stdout.write("ready");
for (;;) {
  renameSync(folder, folder + ".aside");
  renameSync(link, folder);
  renameSync(folder, link);
  renameSync(folder + ".aside", folder);
}`;

describe("a process that replaces a folder of a static site by a symbolic link", () => {
  let daemon: TestDaemon;
  let outside: string;
  let site: string;
  let swapper: ChildProcess;

  beforeAll(async () => {
    daemon = await startDaemon();
    outside = await mkdtemp(path.join(tmpdir(), "outside-"));
    site = path.join(daemon.directory, "workers/page");
    await mkdir(path.join(site, "t"), { recursive: true });
    await writeFile(path.join(site, "manifest.yaml"), "name: page\n");
    await writeFile(path.join(site, "index.html"), "<title>page</title>");
    for (let index = 0; index < files; index += 1) {
      await writeFile(path.join(site, "t", `small-${index}.txt`), "public");
      await writeFile(path.join(outside, `small-${index}.txt`), secret);
    }
    for (let index = 0; index < files; index += 1) {
      await writeFile(path.join(site, "t", `large-${index}.txt`), "public".padEnd(largeBytes));
      await writeFile(path.join(outside, `large-${index}.txt`), secret.padEnd(largeBytes));
    }
    await symlink(outside, path.join(site, "out"));
    await symlink("t", path.join(site, "in"));
    await expectServed();
  });
  afterAll(async () => {
    swapper?.kill("SIGKILL");
    await daemon.dispose();
    await rm(outside, { recursive: true, force: true });
  });

  const get = async (target: string): Promise<string> => {
    const response = await fetch(`${daemon.url}/page/${target}`);
    return `${response.status} ${(await response.text()).trim().slice(0, 20)}`;
  };
  const expectServed = async (): Promise<void> => {
    for (let attempt = 0; attempt < 100 && !(await get("index.html")).startsWith("200"); attempt += 1)
      await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await get("t/small-0.txt")).toBe("200 public");
  };

  it("can make the site serve links to files of the site, but not to other files", async () => {
    expect(await get("in/small-1.txt")).toBe("200 public");
    expect(await get("out/small-1.txt")).toMatch(/^404/);
    expect(await get("out/large-1.txt")).toMatch(/^404/);
  });

  it.each(["small", "large"])("cannot make the site serve a file outside of the site (file size: %s)", async (size) => {
    swapper = spawn(process.execPath, ["-e", swapping, path.join(site, "t"), path.join(site, "out")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(swapper.stdout as NodeJS.ReadableStream, "data");
    const results: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      for (let index = 0; index < files; index += 10)
        results.push(...(await Promise.all(Array.from({ length: 10 }, (_, offset) => get(`t/${size}-${index + offset}.txt`)))));
    }
    swapper.kill("SIGKILL");
    await once(swapper, "exit");
    expect(results.filter((result) => result.includes(secret))).toEqual([]);
    expect(results.filter((result) => result === "200 public").length, "requests that met the folder").toBeGreaterThan(10);
    // The swapper can end at any step, so the folder is restored.
    const entries = await readdir(site);
    if (entries.includes("t.aside")) {
      if (entries.includes("t")) await rename(path.join(site, "t"), path.join(site, "out"));
      await rename(path.join(site, "t.aside"), path.join(site, "t"));
    }
  });

  it("cannot make the daemon keep a file open after complete or aborted responses", async () => {
    const open = async () => (await readdir(`/proc/${daemon.process.pid}/fd`)).length;
    const url = `${daemon.url}/page/t/large-3.txt`;
    const before = await open();
    for (let index = 0; index < 20; index += 1) {
      await (await fetch(url)).arrayBuffer();
      await (await fetch(url, { headers: { range: "bytes=0-9" } })).arrayBuffer();
      await (await fetch(url, { headers: { range: "bytes=999999999-" } })).arrayBuffer();
      await (await fetch(url, { method: "HEAD" })).arrayBuffer();
      const { headers } = await fetch(url, { method: "HEAD" });
      // The response is 304 unless the daemon detects the swap only now.
      await (await fetch(url, { headers: { "if-none-match": headers.get("etag") ?? "" } })).arrayBuffer();
      const controller = new AbortController();
      await fetch(url, { signal: controller.signal }).then(() => controller.abort());
    }
    await expect.poll(open).toBeLessThanOrEqual(before + 3);
  });

  it("cannot block the daemon with a named pipe", async () => {
    expect(spawnSync("mkfifo", [path.join(site, "pipe.txt")]).status).toBe(0);
    expect(await get("pipe.txt")).toMatch(/^404/);
  });
});
