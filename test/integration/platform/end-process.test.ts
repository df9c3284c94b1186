import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { buildTgz } from "../../support/build-tar.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { writeTree } from "../../support/write-tree.js";

const programs = path.join(import.meta.dirname, "../../../dist/server");
/** A module that blocks in `process.exit`, as Node.js does if a thread of V8 waits for a garbage collection. */
const blockedExit = `data:text/javascript,${encodeURIComponent('process.on("exit", () => { for (;;); })')}`;
/** A program that has not ended after this time receives SIGTERM. */
const endTimeoutMs = 10_000;

test.each([
  [
    "packages/archive",
    async (folder: string) => {
      const archivePath = path.join(folder, "package.tgz");
      await writeFile(archivePath, buildTgz({ name: "manifest.yaml", content: "name: a\n" }, { name: "index.js", content: "1" }));
      await mkdir(path.join(folder, "files"));
      const limits = { maxExpandedSizeBytes: 1_000_000, maxArchiveEntries: 10 };
      return { job: { archivePath, format: "tar", folder: path.join(folder, "files"), limits }, input: "whole\n", result: { root: "" } };
    },
  ],
  [
    "workers/typescript",
    async (folder: string) => {
      await writeTree(folder, { "index.ts": "export default 1 as number;" });
      return { job: { folder, file: "index.ts" }, input: "", result: { warnings: [] } };
    },
  ],
])("the program in %s ends after its result even if `process.exit` blocks", async (program, prepare) => {
  const { job, input, result } = await prepare(await temporaryDirectory());
  const args = ["--import", blockedExit, path.join(programs, program, "main.js"), JSON.stringify(job)];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"], timeout: endTimeoutMs });
  child.stdin.write(input);

  const ended = once(child, "close");
  const answer = await text(child.stdout);

  expect(answer).toMatch(/\n$/);
  expect(JSON.parse(answer)).toMatchObject(result);
  expect(await ended).toEqual([null, "SIGKILL"]);
});
