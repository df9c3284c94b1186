import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { startDaemon } from "../../support/start-daemon.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

const page = fileURLToPath(new URL("../../../docs/tutorials/first-worker.md", import.meta.url));
const program = fileURLToPath(new URL("../../../bin/runtimectl.js", import.meta.url));

/** The commands of the page, in order; they run in one folder. */
async function commandsOf(file: string): Promise<string[]> {
  return [...(await readFile(file, "utf8")).matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, commands = ""]) => commands);
}

test("every command of the tutorial succeeds, in the order of the page, and shows what the page says", async () => {
  const daemon = await startDaemon();
  onTestFinished(() => daemon.dispose());
  const folder = await temporaryDirectory();
  await mkdir(path.join(folder, ".runtime"));
  await writeFile(path.join(folder, ".runtime/root.key"), daemon.rootKey);
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, RUNTIMECTL_URL: daemon.url, RUNTIMECTL_KEY: daemon.rootKey };
  const run = async (commands: string) => {
    const script = commands
      .replaceAll("http://127.0.0.1:8000", daemon.url)
      .replaceAll("npx runtimectl", `"${process.execPath}" "${program}"`)
      .replaceAll("curl ", "curl --silent --show-error --fail ");
    return (await promisify(execFile)("/bin/bash", ["-e", "-c", script], { cwd: folder, env })).stdout;
  };

  const outputs: string[] = [];
  for (const commands of await commandsOf(page)) outputs.push(await run(commands));

  expect(outputs).toHaveLength(5);
  expect(outputs[0]).toContain("You asked for /some/path\n");
  expect(outputs[1]).toContain("You are at /some/path\n");
  expect(outputs[2]).toContain("You asked for /some/path\n");
  expect(outputs[3]).toMatch(/^rtk_\S+$/m);
  expect(JSON.parse(outputs[4] ?? "")).toMatchObject({ data: { worker: { name: "greeter" } } });
});
