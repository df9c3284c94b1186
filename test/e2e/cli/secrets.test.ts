import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keys, TerminalWindow } from "../../support/terminal-window.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";
import { runtimectlProgram } from "../../support/run-runtimectl.js";
import { ShellSession, succeeded } from "./shell-session.js";

const app = "export default { fetch: (request, env) => Response.json(env) };";

let daemon: TestDaemon;
let shell: ShellSession;

beforeAll(async () => {
  [daemon, shell] = await Promise.all([startDaemon(), ShellSession.open()]);
  await shell.signIn(daemon);
  await writeTree(shell.home, { "shop/manifest.yaml": 'name: "@team/shop"\n', "shop/index.js": app });
  succeeded(await shell.run("workers upload shop"));
});

afterAll(async () => {
  await daemon?.dispose();
  await shell?.close();
});

const read = async () => (await (await fetch(`${daemon.url}/@team/shop/`)).json()) as Record<string, string>;

describe("runtimectl secrets set", () => {
  test("prompts in a terminal without showing the value", async () => {
    const line = `${process.execPath} ${runtimectlProgram} secrets set @team/shop STRIPE_KEY`;
    const window = await TerminalWindow.open(line, { columns: 100, rows: 20, cwd: shell.home });
    try {
      await window.waitFor("Value of STRIPE_KEY");
      window.press("sk_live_of_the_prompt");
      await window.waitFor("*********************");
      window.press(keys.enter);
      expect(await window.ended).toBe(0);
      expect(window.text()).toContain("set STRIPE_KEY of @team/shop");
      expect(window.written()).not.toContain("sk_live");
    } finally {
      await window.close();
    }
    expect(await read()).toEqual({ STRIPE_KEY: "sk_live_of_the_prompt" });
  });

  test("reads a value from a file or stdin without the final line break", async () => {
    await writeTree(shell.home, { "tls.pem": "-----BEGIN-----\nabc\n-----END-----\n" });
    succeeded(await shell.run("secrets set @team/shop TLS_KEY --from-file tls.pem"));
    succeeded(await shell.run("secrets set @team/shop PIPED", { input: "from a pipe\r\n" }));
    expect(await read()).toMatchObject({ TLS_KEY: "-----BEGIN-----\nabc\n-----END-----", PIPED: "from a pipe" });
  });

  test("sets a namespace's secret; --stage delays the change until the next deployment", async () => {
    succeeded(await shell.run("secrets set @team SHARED", { input: "for all" }));
    const staged = succeeded(await shell.run("secrets set @team/shop PIPED --stage", { input: "of the next" }));
    expect(staged.stderr).toContain("staged PIPED of @team/shop; deploy the worker to apply it");
    expect(await read()).toMatchObject({ SHARED: "for all", PIPED: "from a pipe" });
    succeeded(await shell.run("workers upload shop"));
    expect(await read()).toMatchObject({ PIPED: "of the next" });
  });

  test("prints a note when the worker is not installed", async () => {
    const set = succeeded(await shell.run("secrets set later TOKEN", { input: "x" }));
    expect(set.stderr).toContain("no worker named later is installed yet");
    expect(succeeded(await shell.run("secrets set @team/shop PIPED", { input: "x" })).stderr).not.toContain("installed");
    succeeded(await shell.run("secrets remove later TOKEN --yes"));
  });

  test("never prints the value of a secret, even when the value is rejected", async () => {
    const given = await shell.run("secrets set @team/shop TOKEN=sk_live_1234567");
    expect(given).toMatchObject({ status: 2 });
    expect(given.stderr).toContain("shell history");
    const control = await shell.run("secrets set @team/shop TOKEN", { input: "sk_live_\u0001234567" });
    expect(control).toMatchObject({ status: 2 });
    expect(control.stderr).toContain("the value of TOKEN must not contain control characters");
    const empty = await shell.run("secrets set @team/shop TOKEN", { input: "\n" });
    expect(empty.stderr).toContain("the value of TOKEN must not be empty");
    const many = await shell.run("secrets set @team/shop TOKEN sk_live_1234567", { input: "x" });
    expect(many).toMatchObject({ status: 2 });
    expect(many.stderr).toContain(`printf %s "$VALUE" | runtimectl secrets set @team/shop TOKEN`);
    expect([given, control, empty, many].map(({ stdout, stderr }) => stdout + stderr).join()).not.toContain("sk_live");
  });
});

describe("runtimectl `secrets import`", () => {
  test("sets all variables of a .env file, or no variable when a line is invalid", async () => {
    await writeTree(shell.home, {
      ".env": "# comment\nexport ONE=1\nTWO=\"two words\" # comment\nTHREE='$5'\n",
      "bad.env": "FOUR=4\nEMPTY=\n",
      "pem.env": "FOUR=4\nPEM=-----BEGIN KEY-----\nab+cd/ef==\n-----END KEY-----\n",
    });
    const run = succeeded(await shell.run("secrets import @team/shop"));
    expect(run.stderr).toContain("set ONE");
    expect(await read()).toMatchObject({ ONE: "1", TWO: "two words", THREE: "$5" });
    const bad = await shell.run("secrets import @team/shop bad.env");
    expect(bad).toMatchObject({ status: 2 });
    expect(bad.stderr).toContain("the value of EMPTY must not be empty");
    const pem = await shell.run("secrets import @team/shop pem.env");
    expect(pem).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("if the line is part of a longer value, put the whole value in quotes"),
    });
    expect(pem.stderr + pem.stdout).not.toContain("ab+cd");
    expect(await read()).not.toHaveProperty("FOUR");
  });
});

describe("runtimectl `secrets list` and `secrets remove`", () => {
  test("mark missing secrets (list), and require --force for a required secret (remove)", async () => {
    await writeTree(shell.home, { "needs/manifest.yaml": 'name: "@team/needs"\nsecrets: [NEEDED]\n', "needs/index.js": app });
    const missing = await shell.run("workers upload needs");
    expect(missing).toMatchObject({ status: 7 });
    expect(missing.stderr).toContain("requires the secret NEEDED");
    succeeded(await shell.run("secrets set @team/needs NEEDED", { input: "x" }));
    succeeded(await shell.run("workers upload needs"));
    expect((await shell.run("secrets list @team/needs")).stdout).toMatch(/NEEDED\s+worker\s+set\s+\S+( ago)?\s+root/);

    const refused = await shell.run("secrets remove @team/needs NEEDED --yes");
    expect(refused).toMatchObject({ status: 7 });
    expect(refused.stderr).toContain("active version of @team/needs cannot start without it");
    succeeded(await shell.run("secrets remove @team/needs NEEDED --yes --force"));
    const { missing: names, secrets } = JSON.parse((await shell.run("secrets list @team/needs --json")).stdout) as {
      missing: string[];
      secrets: { name: string }[];
    };
    expect([names, secrets.map(({ name }) => name)]).toEqual([["NEEDED"], ["SHARED"]]);
  });
});

test("`secrets rotate-key` encrypts all secrets with a new key and keeps their values", async () => {
  const before = await read();
  const keyFile = path.join(daemon.directory, "state", "secrets.key");
  const key = await readFile(keyFile, "utf8");
  const run = succeeded(await shell.run("secrets rotate-key"));
  expect(run.stderr).toMatch(/encrypted \d+ values with the key [0-9a-f]{16}/);
  expect(await readFile(keyFile, "utf8")).not.toBe(key);
  succeeded(await shell.run("workers restart @team/shop"));
  expect(await read()).toEqual(before);
});
