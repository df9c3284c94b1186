import { readdir } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { connect } from "../../support/connect.js";
import { HeldWay } from "../../support/held-way.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession } from "./shell-session.js";

let daemon: TestDaemon;
let shell: ShellSession;

beforeAll(async () => {
  [daemon, shell] = await Promise.all([startDaemon(), ShellSession.open()]);
  await writeTree(shell.home, {
    "root.key": daemon.rootKey,
    "app/manifest.yaml": "name: app\nversion: 1.0.0\n",
    "app/index.js": "export default { fetch: () => new Response('app') };",
  });
});

afterAll(async () => {
  await daemon?.dispose();
  await shell?.close();
});

/** Types each answer when its question has appeared. */
async function inTerminal(words: string, dialogue: readonly (readonly [question: string, answer: string])[]) {
  let shown = "";
  const open = [...dialogue];
  return shell.runInTerminal(words, {
    started: ({ stdin, stdout }) =>
      stdout?.on("data", (chunk: Buffer) => {
        shown += chunk.toString();
        const [question, answer] = open[0] ?? [];
        if (question === undefined || !shown.includes(question)) return;
        open.shift();
        stdin?.write(answer ?? "");
      }),
  });
}

test("auth login prompts for the key and does not echo the input", async () => {
  const run = await inTerminal(`auth login --url ${daemon.url}`, [["Key for", `${daemon.rootKey}\r`]]);
  expect(run.status, run.stdout).toBe(0);
  expect(run.stdout).toContain("signed in to");
  expect(run.stdout).not.toContain(daemon.rootKey);
});

test("auth login prompts for the key again when the daemon rejects the key", async () => {
  const run = await inTerminal(`auth login --url ${daemon.url}`, [
    ["Key for", "wrong\r"],
    ["rejects the key", `${daemon.rootKey}\r`],
  ]);
  expect(run.status, run.stdout).toBe(0);
  expect(run.stdout).toContain("signed in to");
  expect(run.stdout).not.toContain("X-API-Key");
  expect(run.stdout).not.toContain("✔");
});

test("`workers list` prints a table with column names, or a hint if no worker exists", async () => {
  expect((await shell.runInTerminal("workers list")).stdout).toContain("no workers; to deploy a folder: runtimectl deploy");
  const upload = await shell.runInTerminal("workers upload app");
  expect(upload.stdout).toContain(`${daemon.url}/app/`);
  const list = await shell.runInTerminal("workers list");
  expect(list.stdout).toMatch(
    /NAME {2}VERSION {2}STATE {2}LIVE {2}SOURCE {4}DEPLOYED\r?\napp {3}1\.0\.0 {4}idle {3}live {2}uploaded {2}\S.*\r?\n1 version of 1 worker/,
  );
  expect(list.stdout).toContain("1 built-in worker is not shown (--all)");
  expect((await shell.runInTerminal("workers list --all")).stdout).toMatch(
    /app +1\.0\.0 +idle +live +uploaded .*\s+cpanel +1\.0\.0 +idle +live +built-in/,
  );
});

test("`workers upload` shows a progress bar only in a terminal", async () => {
  // Random bytes do not compress, and 16 MB exceed the buffers between client and daemon.
  const pieces = Array.from({ length: 256 }, () => crypto.getRandomValues(new Uint8Array(65_536)));
  await writeTree(shell.home, {
    "heavy/manifest.yaml": "name: heavy\n",
    "heavy/index.html": "heavy",
    "heavy/data.bin": Buffer.concat(pieces),
  });
  const way = await HeldWay.to(daemon.url, 1024 * 1024);
  onTestFinished(() => way.close());
  const bar = /uploading heavy-latest\.tgz [█░]{24} \d+\.\d MB of 16\.\d MB/;
  let shown = "";
  const upload = await shell.runInTerminal("workers upload heavy", {
    env: { RUNTIMECTL_URL: way.url, RUNTIMECTL_KEY: daemon.rootKey },
    started: ({ stdout }) =>
      stdout?.on("data", (chunk: Buffer) => {
        shown += chunk.toString();
        if (bar.test(shown)) way.open();
      }),
  });
  expect(upload.status, upload.stdout).toBe(0);
  expect(upload.stdout).toMatch(bar);
  expect((await shell.run("workers upload heavy")).stderr).not.toContain("uploading heavy");
  expect((await shell.run("workers delete heavy --yes")).status).toBe(0);
});

test("`workers delete` requires the user to type the name of the worker", async () => {
  const declined = await inTerminal("workers delete app", [["Type app", "ap\r"]]);
  expect(declined.status).toBe(3);
  expect(declined.stdout.replaceAll(/\s+/g, " ")).toContain("but no secrets (to remove one: runtimectl secrets remove app");
  expect((await fetch(`${daemon.url}/app/`)).status).toBe(200);
  const cancelled = await inTerminal("workers delete app", [["Type app", "\u0003"]]);
  expect(cancelled.status).toBe(130);
  expect((await fetch(`${daemon.url}/app/`)).status).toBe(200);
  const confirmed = await inTerminal("workers delete app", [["Type app", "app\r"]]);
  expect(confirmed.status, confirmed.stdout).toBe(0);
  expect((await fetch(`${daemon.url}/app/`)).status).toBe(404);
});

test.each([["workers delete app --no-input"], ["CI"]])(
  "`workers delete` does not prompt when prompts are disabled (cause: %s)",
  async (words) => {
    const run = words === "CI" ? await shell.runInTerminal("workers delete app", { env: { CI: "1" } }) : await shell.runInTerminal(words);
    expect(run.status).toBe(2);
    expect(run.stdout).toContain("add --yes");
  },
);

test("runtimectl prints no escape codes with NO_COLOR, --no-color or TERM=dumb", async () => {
  const plain = [
    await shell.runInTerminal("wrokers", { env: { NO_COLOR: "1" } }),
    await shell.runInTerminal("wrokers --no-color", { env: { NO_COLOR: "" } }),
    await shell.runInTerminal("wrokers", { env: { NO_COLOR: "", TERM: "dumb" } }),
  ];
  for (const run of plain) expect(run.stdout).not.toContain("\u001b");
  expect((await shell.runInTerminal("wrokers", { env: { NO_COLOR: "" } })).stdout).toContain("\u001b[31merror:");
});

test("runtimectl exits with 0 and no error when the reader of its output exits", async () => {
  const run = await shell.runProgram("workers upload --help", {
    started: (child) => {
      child.stdin?.end();
      child.stdout?.destroy();
    },
  });
  expect(run).toMatchObject({ status: 0, stderr: "" });
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("`workers upload` leaves no files on daemon or client after the signal %s", async (signal, status) => {
  await writeTree(shell.home, {
    "large/manifest.yaml": "name: large\n",
    "large/index.js": "",
    "large/data.bin": crypto.getRandomValues(new Uint8Array(65_536)),
  });
  for (let index = 0; index < 40; index += 1)
    await writeTree(shell.home, {
      [`large/${index}.bin`]: Buffer.concat(Array.from({ length: 16 }, () => crypto.getRandomValues(new Uint8Array(65_536)))),
    });
  const before = (await readdir(shell.home)).toSorted();
  const run = await shell.runProgram("workers upload large --verbose", {
    started: (child) => {
      child.stdin?.end();
      let shown = "";
      child.stderr?.on("data", (chunk: Buffer) => {
        shown += chunk.toString();
        if (shown.includes("workers/upload") && !child.killed) child.kill(signal);
      });
    },
  });
  expect(run.status, run.stderr).toBe(status);
  expect(run.stdout).toBe("");
  expect((await readdir(shell.home)).toSorted()).toEqual(before);
  expect((await connect(daemon.url, daemon.rootKey).workers.list()).map((worker) => worker.name)).not.toContain("large");
  expect(await readdir(path.join(daemon.directory, "workers")).catch(() => [])).not.toContain("large");
});
