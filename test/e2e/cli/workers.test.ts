import { chmod, readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { connect } from "../../support/connect.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession, type Run } from "./shell-session.js";

let daemon: TestDaemon;
let shell: ShellSession;

/** Responds with its version; `/health` and `/hang` are for checks. */
const app = (version: string, healthStatus: number) => ({
  [`${version}/manifest.yaml`]: `name: "@team/app"\nversion: ${version}\n`,
  [`${version}/index.js`]: `export default {
    fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname.endsWith("/hang")) return new Promise(() => {});
      if (pathname.endsWith("/moved")) return new Response(null, { status: 302, headers: { location: "/elsewhere" } });
      return new Response("${version}", { status: pathname.endsWith("/health") ? ${healthStatus} : 200 });
    },
  };`,
});

beforeAll(async () => {
  [daemon, shell] = await Promise.all([startDaemon(), ShellSession.open()]);
  await writeTree(shell.home, { "root.key": daemon.rootKey, ...app("1.0.0", 202), ...app("1.1.0", 500), ...app("1.2.0", 200) });
  succeeded(await shell.run(`auth login --url ${daemon.url} --key-file root.key`));
});

beforeEach(async () => {
  await shell.run("workers delete @team/app --yes");
  for (const version of ["1.0.0", "1.1.0", "1.2.0"]) succeeded(await shell.run(`workers upload ${version}`));
});

afterAll(async () => {
  await daemon?.dispose();
  await shell?.close();
});

function succeeded(run: Run): Run {
  expect(run, run.stderr + run.stdout).toMatchObject({ status: 0 });
  return run;
}

const answer = async () => (await fetch(`${daemon.url}/@team/app/`)).text();
const installed = () => connect(daemon.url, daemon.rootKey).workers.list();
const errorOf = (run: Run) =>
  (JSON.parse(run.stderr.trim().split("\n").at(-1) ?? "") as { error: { code: string; details?: string[] } }).error;

describe("runtimectl `workers show`", () => {
  test("prints the active version, URLs, disabled versions and metrics of a worker", async () => {
    succeeded(await shell.run("workers disable @team/app@1.1.0"));
    expect(await answer()).toBe("1.2.0");

    const shown = succeeded(await shell.run("workers show @team/app"));
    expect(shown.stdout).toMatch(new RegExp(`^url +${daemon.url}/@team/app/\nhosts +none: .*\nactive +1\\.2\\.0\n`, "m"));
    expect(shown.stdout).toMatch(/^1\.2\.0 +on +\/@team\/app\/ +uploaded/m);
    expect(shown.stdout).toMatch(/^1\.2\.0 +now +root +cli$/m);
    expect(shown.stdout).toMatch(/^1\.1\.0 +off +- +uploaded/m);
    expect(shown.stdout).toMatch(/^1\.0\.0 +on +\/@team\/app@1\.0\.0\/ +uploaded/m);

    const document = JSON.parse(succeeded(await shell.run("app show @team/app --json")).stdout) as { versions: { url: string | null }[] };
    expect(document).toMatchObject({
      name: "@team/app",
      url: `${daemon.url}/@team/app/`,
      answering: "1.2.0",
      versions: [
        { version: "1.2.0", enabled: true, answers: true, metrics: { kind: "module", requests: { total: 1 } } },
        { version: "1.1.0", enabled: false, answers: false, url: null, metrics: null },
        { version: "1.0.0", enabled: true, answers: false },
      ],
    });
    expect(await (await fetch(document.versions[2]?.url ?? "")).text()).toBe("1.0.0");
    expect(JSON.parse((await shell.run("workers show @team/app@1.1.0 --json")).stdout)).toMatchObject({ versions: [{ version: "1.1.0" }] });
  });

  test("prints that no version is enabled when all versions are disabled", async () => {
    for (const version of ["1.0.0", "1.1.0", "1.2.0"]) succeeded(await shell.run(`workers disable @team/app@${version}`));

    expect((await shell.run("workers show @team/app")).stdout).toMatch(/^url +none: no version is enabled$/m);
    expect(errorOf(await shell.run("workers open @team/app --json"))).toMatchObject({ code: "WORKER_OFF", exitCode: 7 });
    expect(errorOf(await shell.run("workers rollback @team/app --json"))).toMatchObject({ code: "NO_EARLIER_VERSION", exitCode: 7 });
  });
});

describe("runtimectl `workers enable` and `workers disable`", () => {
  test.each(["enable", "disable"])("list the installed versions when the command names no version (command: %s)", async (verb) => {
    succeeded(await shell.run("workers disable @team/app@1.1.0"));
    const run = await shell.run(`workers ${verb} @team/app`);
    expect(run.status).toBe(2);
    expect(run.stderr).toContain("the version of @team/app is missing");
    expect(run.stderr).toContain("hint: use @team/app@VERSION with an installed version: 1.2.0, 1.1.0 (disabled), 1.0.0");
  });

  test("warn with the reason and the undo command when the version cannot start", async () => {
    await writeTree(shell.home, {
      "broken/manifest.yaml": 'name: "@team/app"\nversion: 2.0.0\nenabled: false\n',
      "broken/index.js": "throw new Error('kaput');",
    });
    succeeded(await shell.run("workers upload broken"));

    const run = succeeded(await shell.run("workers enable @team/app@2.0.0"));

    expect(run.stderr).toMatch(/^warning: @team\/app@2\.0\.0 responds with 502: .*kaput/m);
    expect(run.stderr).toContain("Undo: runtimectl workers disable @team/app@2.0.0");
  });
});

describe("runtimectl `workers rollback`", () => {
  test("checks the previous version, activates it, and prints the undo command", async () => {
    expect(await answer()).toBe("1.2.0");

    const run = succeeded(await shell.run("rollback @team/app --verbose"));

    expect(run.stdout).toBe(`${daemon.url}/@team/app/\n`);
    expect(run.stderr).toContain("@team/app: 1.1.0 is now the active version instead of 1.2.0; the check got 200");
    // The target is enabled already; the newer version is disabled only after the check of the target succeeded.
    expect(run.stderr.match(/^> (?:POST|GET \S+@).*$/gm)).toEqual([
      `> GET ${daemon.url}/@team/app@1.1.0/`,
      `> POST ${daemon.url}/api/workers/%40team/app/1.2.0/disable`,
    ]);
    expect(await answer()).toBe("1.1.0");
    const [undo] = /(?<=Undo: runtimectl ).*/.exec(run.stderr) ?? [];
    succeeded(await shell.run(undo ?? ""));
    expect(await answer()).toBe("1.2.0");
  });

  test("with --to, enables the named version and disables all newer versions", async () => {
    succeeded(await shell.run("workers disable @team/app@1.0.0"));

    const run = succeeded(await shell.run("workers rollback @team/app --to 1.0.0 --check /health=202 --json"));

    expect(JSON.parse(run.stdout)).toMatchObject({
      from: "1.2.0",
      to: "1.0.0",
      disabled: ["1.2.0", "1.1.0"],
      check: { path: "/health", status: 202 },
    });
    expect(await answer()).toBe("1.0.0");
    expect(errorOf(await shell.run("rollback @team/app --json"))).toMatchObject({ code: "NO_EARLIER_VERSION", exitCode: 7 });
    expect(errorOf(await shell.run("rollback @team/app --to 1.0.0 --json"))).toMatchObject({ code: "ANSWERS_ALREADY", exitCode: 7 });
  });

  test("accepts a redirect as a successful check, and does not follow the redirect", async () => {
    const run = succeeded(await shell.run("workers rollback @team/app --check /moved --json"));

    expect(JSON.parse(run.stdout)).toMatchObject({ to: "1.1.0", check: { status: 302 } });
  });

  test.each([
    ["an unexpected status", "--to 1.0.0 --check /health=200"],
    ["a failure status", "--check /health"],
    ["a timeout", "--to 1.0.0 --check /hang --timeout 700ms"],
  ])("changes nothing and exits with 11 when the check fails (cause: %s)", async (_, words) => {
    succeeded(await shell.run("workers disable @team/app@1.0.0"));
    const before = await installed();

    const run = await shell.run(`workers rollback @team/app ${words} --json`);

    expect(run).toMatchObject({ status: 11, stdout: "" });
    expect(errorOf(run).code).toBe("CHECK_FAILED");
    expect(await installed()).toEqual(before);
    expect(await answer()).toBe("1.2.0");
  });

  test("changes nothing when Ctrl-C interrupts the check", async () => {
    succeeded(await shell.run("workers disable @team/app@1.0.0"));
    const before = await installed();

    const run = await shell.runProgram("workers rollback @team/app --to 1.0.0 --check /hang --verbose", {
      started: (child) => {
        let shown = "";
        child.stderr?.on("data", (chunk: Buffer) => {
          shown += chunk.toString();
          if (shown.includes("/hang") && !child.killed) child.kill("SIGINT");
        });
      },
    });

    expect(run).toMatchObject({ status: 130, stdout: "" });
    expect(await installed()).toEqual(before);
  });

  test("changes nothing when the key has only read permissions", async () => {
    const env = { RUNTIMECTL_KEY: succeeded(await shell.run("keys create --preset viewer")).stdout.trim() };
    const before = await installed();

    for (const words of ["", "--to 1.0.0"])
      expect(await shell.run(`workers rollback @team/app ${words}`, { env })).toMatchObject({ status: 5, stdout: "" });

    expect(await installed()).toEqual(before);
    expect(succeeded(await shell.run("workers show @team/app", { env })).stdout).toMatch(/^active +1\.2\.0$/m);
  });
});

/** Variables of a desktop whose browser writes its arguments to a file. */
const desktop = async () => {
  await writeTree(shell.home, { "desktop/xdg-open": '#!/bin/sh\nprintf "%s\\n" "$@" >> "$HOME/opened"\n', opened: "" });
  await chmod(path.join(shell.home, "desktop/xdg-open"), 0o755);
  return { DISPLAY: ":0", PATH: `${path.join(shell.home, "desktop")}:${process.env["PATH"]}` };
};

/** Arguments that the browser of `desktop` received. */
const opened = () => readFile(path.join(shell.home, "opened"), "utf8");

describe("runtimectl `workers open`", () => {
  test("prints the URL, and opens it in the browser when a display is available", async () => {
    const env = await desktop();

    const run = await shell.run("workers open @team/app", { env, isTerminal: true });

    expect(run.status, run.stdout).toBe(0);
    expect(run.stdout).toContain(`${daemon.url}/@team/app/`);
    await expect.poll(opened).toBe(`${daemon.url}/@team/app/\n`);
  });

  test("prints the URL without a browser with --print, in a pipe, in CI or headless", async () => {
    const env = await desktop();

    expect(succeeded(await shell.run("workers open @team/app@1.0.0", { env })).stdout).toBe(`${daemon.url}/@team/app@1.0.0/\n`);
    const { DISPLAY: _display, ...noDisplay } = env;
    for (const [words, variables] of [
      ["--print", env],
      ["--json", env],
      ["", { ...env, CI: "1" }],
      ["", noDisplay],
    ] as const)
      expect((await shell.run(`workers open @team/app ${words}`, { env: variables, isTerminal: true })).status).toBe(0);
    // A browser starts before its command exits. Only this last command starts one, so `opened` contains only its URL.
    await shell.run("workers open @team/app@1.1.0", { env, isTerminal: true });
    await expect.poll(opened).toBe(`${daemon.url}/@team/app@1.1.0/\n`);
  });

  test("fails when the version is disabled", async () => {
    succeeded(await shell.run("workers disable @team/app@1.0.0"));

    expect(errorOf(await shell.run("workers open @team/app@1.0.0 --json"))).toMatchObject({ code: "WORKER_OFF", exitCode: 7 });
  });
});

test("`workers delete` continues after a failure, exits with 9 and lists all results", async () => {
  const run = await shell.run("workers rm @team/app@1.0.0 nobody @team/app@1.1.0 --yes --json");

  expect(run.status).toBe(9);
  expect(JSON.parse(run.stdout)).toMatchObject({
    workers: [
      { name: "@team/app", version: "1.0.0", deleted: true },
      { name: "nobody", deleted: false, error: { code: "WORKER_NOT_FOUND" } },
      { name: "@team/app", version: "1.1.0", deleted: true },
    ],
  });
  expect(errorOf(run)).toMatchObject({ code: "PARTLY_DONE", exitCode: 9 });
  expect((await installed()).find(({ name }) => name === "@team/app")?.versions).toEqual(["1.2.0"]);

  expect((await shell.run("workers rm nobody no-one --yes")).status).toBe(6);
  expect((await shell.run("workers rm @team/app Not/A/Name --yes")).status).toBe(2);
  expect((await installed()).find(({ name }) => name === "@team/app")?.versions).toEqual(["1.2.0"]);
});
