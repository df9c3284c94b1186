import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { exposureOf, highestExposure } from "./exposure.js";
import { runTool } from "./run-tool.js";

// CI runs this file separately: it needs systemd-analyze and nothing else of the machine.
const builtin = fileURLToPath(new URL("../../builtin/systemd", import.meta.url));

/** Copies units to a folder and inserts the path of this machine's Node, because systemd checks that the program exists. */
async function unitsWithNode(...files: string[]): Promise<string[]> {
  const folder = await temporaryDirectory();
  return await Promise.all(
    files.map(async (file) => {
      const text = await readFile(path.join(builtin, file), "utf8");
      const copy = path.join(folder, path.basename(file));
      await writeFile(copy, text.replace("ExecStart=/usr/bin/node ", `ExecStart=${process.execPath} `));
      return copy;
    }),
  );
}

test("the system unit has no error in `systemd-analyze verify`", async () => {
  const files = await unitsWithNode("runtimed.service", "runtimed.socket");

  expect(await runTool("systemd-analyze", "verify", ...files)).toEqual({ status: 0, output: "" });
});

test("the user unit has no error in `systemd-analyze verify`", async () => {
  const files = await unitsWithNode("user/runtimed.service", "runtimed.socket");
  const runtimeDirectory = await temporaryDirectory();

  const end = await runTool("env", `XDG_RUNTIME_DIR=${runtimeDirectory}`, "systemd-analyze", "--user", "verify", ...files);

  expect(end).toEqual({ status: 0, output: "" });
});

test(`the system unit has an exposure level of at most ${highestExposure}`, async () => {
  expect(await exposureOf(path.join(builtin, "runtimed.service"))).toBeLessThanOrEqual(highestExposure);
});
