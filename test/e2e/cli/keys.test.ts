import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../../support/connect.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession, type Run } from "./shell-session.js";

let daemon: TestDaemon;
let shell: ShellSession;

beforeAll(async () => {
  [daemon, shell] = await Promise.all([startDaemon(), ShellSession.open()]);
  await writeTree(shell.home, { "root.key": daemon.rootKey });
  succeeded(await shell.run(`auth login --url ${daemon.url} --key-file root.key`));
});

afterAll(async () => {
  await daemon?.dispose();
  await shell?.close();
});

function succeeded(run: Run): Run {
  expect(run, run.stderr + run.stdout).toMatchObject({ status: 0 });
  return run;
}

interface Made {
  readonly id: number;
  readonly key: string;
  readonly expiresAtSeconds: number;
}

const documentOf = (run: Run) => JSON.parse(succeeded(run).stdout) as Made;
const errorOf = (run: Run) => (JSON.parse(run.stderr.trim().split("\n").at(-1) ?? "") as { error: object }).error;
const make = async (words: string) => documentOf(await shell.run(`keys create ${words} --json`));
const keys = async () => (await connect(daemon.url, daemon.rootKey).keys.list()).keys.map(({ lastUsedAt: _lastUsedAt, ...key }) => key);
const works = async (key: string) => (await shell.run("auth status", { env: { RUNTIMECTL_KEY: key } })).status === 0;
const daySeconds = 86_400;

describe("runtimectl keys create --preset", () => {
  test("creates a key that can upload to one namespace for 90 days (preset ci)", async () => {
    const made = await make("--preset ci --namespace @team");

    expect(made).toMatchObject({
      name: expect.stringMatching(/^ci .+@.+ \d{4}-\d\d-\d\d$/) as string,
      role: "custom",
      permissions: ["workers:read", "workers:install"],
      namespaces: ["@team"],
    });
    expect(made.expiresAtSeconds - Date.now() / 1000).toBeGreaterThan(89 * daySeconds);
    expect(made.expiresAtSeconds - Date.now() / 1000).toBeLessThan(91 * daySeconds);
    const env = { RUNTIMECTL_KEY: made.key };
    succeeded(await shell.run("workers list", { env }));
    expect((await shell.run("keys list", { env })).status).toBe(5);
    expect((await shell.run("plugins list", { env })).status).toBe(5);
  });

  test("asks for the namespace in a terminal (preset ci)", async () => {
    let shown = "";
    let isAnswered = false;
    const run = await shell.runInTerminal("keys create --preset ci --name asked", {
      started: ({ stdin, stdout }) =>
        stdout?.on("data", (chunk: Buffer) => {
          shown += chunk.toString();
          if (isAnswered || !shown.includes("Namespace of the key")) return;
          isAnswered = true;
          stdin?.write("@team\r");
        }),
    });

    expect(run.status, run.stdout).toBe(0);
    expect((await keys()).find(({ name }) => name === "asked")).toMatchObject({ namespaces: ["@team"] });
  });

  test("creates keys with the documented permissions (presets viewer and ops)", async () => {
    expect(await make("--preset viewer --expires 1d --name eyes")).toMatchObject({ role: "viewer", name: "eyes", namespaces: ["*"] });
    const ops = await make("--preset ops");
    expect(ops).toMatchObject({
      permissions: ["workers:read", "workers:install", "workers:restart", "plugins:read", "keys:read"],
    });
    succeeded(await shell.run("keys list", { env: { RUNTIMECTL_KEY: ops.key } }));
    expect((await shell.run("keys create --role viewer", { env: { RUNTIMECTL_KEY: ops.key } })).status).toBe(5);
  });
});

test("keys `list` and `show` print expiry and last use, and mark the key in use", async () => {
  const mine = await make("--role admin --expires 30d --name mine");
  const other = await make("--role viewer --expires never --name other");
  const env = { RUNTIMECTL_KEY: mine.key };
  const end = new Date(mine.expiresAtSeconds * 1000).toISOString().replace(".000Z", "Z");

  const rows = succeeded(await shell.run("key ls", { env })).stdout.split("\n");
  const rowOf = ({ id }: Made) => rows.find((row) => row.startsWith(`${id}\t`))?.split("\t");
  expect(rowOf(mine)?.slice(5)).toEqual([end, expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]+Z$/), "*"]);
  expect(rowOf(other)?.slice(5)).toEqual(["never", "never", ""]);
  const list = await shell.run("keys list", { env, isTerminal: true });
  expect(list.stdout).toMatch(/ mine +admin .* in (?:29|30)d +now +\*$/m);
  expect(list.stderr).toContain(`you are signed in with key ${mine.id}, mine`);

  const shown = succeeded(await shell.run(`keys show ${mine.id}`, { env })).stdout;
  expect(shown).toContain(`key          ${mine.id}, your own key\nname         mine\n`);
  expect(shown).toContain(`\nexpires      ${end}\n`);
  const document = documentOf(await shell.run(`keys show ${other.id} --json`, { env }));
  expect(document).toMatchObject({ id: other.id, name: "other", own: false, expired: false });
  expect(document).not.toHaveProperty("expiresAt");
  expect(shown + JSON.stringify(document)).not.toContain(other.key.slice(12));
});

describe("runtimectl keys rotate", () => {
  test("keeps the old key valid for --overlap, and stores the new key in a private file", async () => {
    const old = await make("--preset ci --namespace @team --name pipeline");

    const run = succeeded(await shell.run(`keys rotate ${old.id} --overlap 2h --out rotated.key`));

    expect(run.stdout).toBe("");
    expect(run.stderr).toMatch(
      new RegExp(`it replaces key ${old.id}, which expires \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC \\(in \\d+h\\)\n`),
    );
    const file = path.join(shell.home, "rotated.key");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const replacement = (await readFile(file, "utf8")).trim();
    expect([await works(old.key), await works(replacement)]).toEqual([true, true]);
    const [before, after] = (await keys()).filter(({ name }) => name === "pipeline");
    expect(before?.expiresAt).toBe((after?.createdAt ?? 0) + 7200);
    expect(after).toMatchObject({ permissions: ["workers:read", "workers:install"], namespaces: ["@team"] });
  });

  test("creates no key when the output file already exists", async () => {
    const { id } = await make("--role viewer");
    await writeTree(shell.home, { "taken.key": "precious" });
    const before = await keys();

    expect((await shell.run(`keys rotate ${id} --out taken.key`)).status).toBe(2);
    expect((await shell.run("keys create --preset viewer --out taken.key")).status).toBe(2);

    expect(await keys()).toEqual(before);
    expect(await readFile(path.join(shell.home, "taken.key"), "utf8")).toBe("precious");
  });

  test("leaves no key file behind when the rotation fails", async () => {
    expect((await shell.run("keys rotate 4711 --out never.key")).status).toBe(6);

    await expect(stat(path.join(shell.home, "never.key"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("requires confirmation for --overlap 0, and rejects rotating the key in use", async () => {
    const own = await make("--role admin");
    const env = { RUNTIMECTL_KEY: own.key };
    // A key can only create keys that expire before itself.
    const other = await make("--role viewer --expires 30d");

    expect((await shell.run(`keys rotate ${other.id} --overlap 0`, { env })).status).toBe(2);
    expect(await works(other.key)).toBe(true);
    expect(errorOf(await shell.run(`keys rotate ${own.id} --overlap 0 --yes --json`, { env }))).toMatchObject({
      code: "KEY_SELF_REVOKE_FORBIDDEN",
      exitCode: 7,
    });
    expect(await works(own.key)).toBe(true);

    const replacement = documentOf(await shell.run(`keys rotate ${other.id} --overlap 0 --yes --json`, { env }));
    expect([await works(other.key), await works(replacement.key)]).toEqual([false, true]);
    const rotated = succeeded(await shell.run(`keys rotate ${own.id} --overlap 1h`, { env }));
    expect(rotated.stderr).toContain("you are signed in with the old key");
    const ownReplacement = { key: rotated.stdout.trim() };
    expect([await works(own.key), await works(ownReplacement.key)]).toEqual([true, true]);
  });
});

describe("runtimectl keys create without --expires", () => {
  test("creates a key that expires no later than the key that creates it", async () => {
    const own = await make("--role admin --expires 30d");

    const made = documentOf(await shell.run("keys create --role viewer --json", { env: { RUNTIMECTL_KEY: own.key } }));

    expect(made.expiresAtSeconds - Date.now() / 1000).toBeGreaterThan(28 * daySeconds);
    expect(made.expiresAtSeconds).toBeLessThanOrEqual(own.expiresAtSeconds);
  });
});

describe("runtimectl keys revoke with several keys", () => {
  test("revokes each key once when the user repeats an ID", async () => {
    const [one, two] = [await make("--role viewer --name one"), await make("--role viewer --name two")];

    const run = succeeded(await shell.run(`keys rm ${one.id} ${two.id} ${one.id} --yes --json`));

    expect(JSON.parse(run.stdout)).toEqual({
      keys: [
        { id: one.id, name: "one", revoked: true },
        { id: two.id, name: "two", revoked: true },
      ],
    });
    expect([await works(one.key), await works(two.key)]).toEqual([false, false]);
  });

  test("revokes the other keys when the daemon rejects one of the keys", async () => {
    const own = await make("--role admin --name own");
    const [one, two] = [await make("--role viewer --name one"), await make("--role viewer --name two")];
    const env = { RUNTIMECTL_KEY: own.key };

    const run = await shell.run(`keys revoke ${one.id} ${own.id} 4711 ${two.id} --yes`, { env });

    expect(run.status).toBe(9);
    expect(run.stdout).toBe(
      `key ${one.id} (one)\trevoked\nkey ${own.id} (own)\tKEY_SELF_REVOKE_FORBIDDEN\nkey 4711\tKEY_NOT_FOUND\nkey ${two.id} (two)\trevoked\n`,
    );
    expect(run.stderr).toContain("error: revoked 2 of 4 keys; the other keys failed:\n");
    expect([await works(one.key), await works(own.key), await works(two.key)]).toEqual([false, true, false]);
  });

  test("revokes the keys only after the user types the number of keys", async () => {
    const [one, two] = [await make("--role viewer"), await make("--role viewer")];
    const type = (answer: string) => {
      let shown = "";
      let isAnswered = false;
      return shell.runInTerminal(`keys revoke ${one.id} ${two.id}`, {
        started: ({ stdin, stdout }) =>
          stdout?.on("data", (chunk: Buffer) => {
            shown += chunk.toString();
            if (isAnswered || !shown.includes("Type 2 keys")) return;
            isAnswered = true;
            stdin?.write(`${answer}\r`);
          }),
      });
    };

    expect((await type("yes")).status).toBe(3);
    expect([await works(one.key), await works(two.key)]).toEqual([true, true]);
    expect((await shell.run(`keys revoke ${one.id} ${two.id}`)).status).toBe(2);
    expect((await type("2 keys")).status).toBe(0);
    expect([await works(one.key), await works(two.key)]).toEqual([false, false]);
  });
});
