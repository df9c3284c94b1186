import { execFileSync, spawn } from "node:child_process";
import { chmod } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { completionScripts } from "../../../src/cli/completion/scripts.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession } from "./shell-session.js";

let daemon: TestDaemon;
let shell: ShellSession;
const servers: Server[] = [];
const program = fileURLToPath(new URL("../../../bin/runtimectl.js", import.meta.url));

beforeAll(async () => {
  [daemon, shell] = await Promise.all([startDaemon(), ShellSession.open()]);
  await writeTree(shell.home, {
    "root.key": daemon.rootKey,
    "bin/runtimectl": `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`,
    "app/manifest.yaml": 'name: "@team/app"\nversion: 1.0.0\n',
    "app/index.js": "export default { fetch: () => new Response('app') };",
    "guard/manifest.yaml": "name: guard\nversion: 1.0.0\n",
    "guard/plugin.js": "export default {};",
  });
  await chmod(path.join(shell.home, "bin/runtimectl"), 0o755);
  await shell.run(`auth login --url ${daemon.url} --key-file root.key`);
  await shell.run("workers upload app");
  await shell.run("plugins upload guard");
  await shell.run("keys create --role viewer --name reader");
  for (const [name, script] of Object.entries(completionScripts)) await writeTree(shell.home, { [`completion.${name}`]: script });
});

afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

afterAll(async () => {
  await daemon?.dispose();
  await shell?.close();
});

const environment = () => ({ PATH: `${shell.home}/bin:${process.env["PATH"] ?? ""}`, HOME: shell.home, TERM: "dumb", PS1: "$ " });

/** Returns the words that bash offers in place of the last word of the line. */
function completeInBash(line: string, extra: Readonly<Record<string, string>> = {}): string[] {
  const code = `source completion.bash; COMP_LINE=$1 COMP_POINT=\${#1}; _runtimectl 2>&1; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const shown = execFileSync("bash", ["--norc", "-c", code, "bash", line], {
    cwd: shell.home,
    env: { ...environment(), ...extra },
    encoding: "utf8",
  });
  return shown.split("\n").filter((word) => word !== "");
}

/** Repeats the key press, because completion stops after 300 ms. On a busy machine, the first key press can return no names. */
function pressUntilAnswered(line: string): string[] {
  for (let press = 1; press < 10; press += 1) {
    const words = completeInBash(line);
    if (words.length > 0) return words;
  }
  return [];
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  servers.push(server);
  await new Promise((resolve) => server.once("listening", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("bash completion", () => {
  test.each<[string, readonly string[]]>([
    ["runtimectl plugins disable gu", ["guard"]],
    ["runtimectl keys revoke ", ["1"]],
    // Bash splits words at "@": only the part after the last "@" is completed.
    ["runtimectl workers delete ", ["@team/app"]],
    ["runtimectl workers delete @te", ["@team/app"]],
    ["runtimectl workers delete @team/app@", ["@1.0.0"]],
    ["runtimectl workers enable @te", ["@team/app@1.0.0"]],
  ])("completes names of packages and keys (command line: %s)", (line, expected) => {
    expect(pressUntilAnswered(line)).toEqual(expected);
  });

  test.each<[string, readonly string[]]>([
    ["runtimectl work", ["workers"]],
    ["runtimectl auth ", ["login", "logout", "status"]],
    ["runtimectl keys create --ro", ["--role"]],
    ["runtimectl keys create --role e", ["editor"]],
    ["runtimectl workers list --json=na", ["name"]],
    ["runtimectl workers list --json=name,so", ["name,source"]],
    ["runtimectl -p default workers d", ["disable", "delete"]],
    ["runtimectl workers stats --verb", ["--verbose"]],
    ["runtimectl profile use d", ["default"]],
    ["runtimectl workers list --profile ", ["default"]],
    ["runtimectl completion f", ["fish"]],
    ["runtimectl help exit", ["exit-codes"]],
    ["runtimectl workers list -- ", []],
    ["runtimectl nothing here ", []],
  ])("completes commands, flags and values (command line: %s)", (line, expected) => {
    expect(completeInBash(line)).toEqual(expected);
  });

  test("inserts the complete name of a worker when the user presses Tab", async () => {
    const line = "stty cols 100; exec bash --norc --noprofile -i";
    const child = spawn("script", ["--quiet", "--return", "--flush", "--command", line, "/dev/null"], {
      cwd: shell.home,
      env: environment(),
    });
    let shown = "";
    child.stdout.on("data", (chunk: Buffer) => {
      shown += chunk.toString();
      // The bell means that no completion was found in time: press Tab again.
      if (chunk.includes(7)) child.stdin.write("\t");
    });
    const seen = (text: string) =>
      new Promise<void>((resolve) => {
        const look = () => void (shown.includes(text) && resolve());
        child.stdout.on("data", look);
        look();
      });
    await seen("$ ");
    child.stdin.write("source completion.bash\n");
    await seen("completion.bash\r\n$ ");
    child.stdin.write("runtimectl workers disable @te\t");
    await seen("@team/app@1.0.0 ");
    child.stdin.write("\n");
    await seen("is disabled");
    child.stdin.end("exit\n");
    await new Promise((resolve) => child.once("close", resolve));
    expect((await fetch(`${daemon.url}/@team/app/`)).status).toBe(404);
  }, 30_000);
});

describe("runtimectl's shell completion", () => {
  const nothing = { status: 0, stdout: "", stderr: "" };

  test("prints nothing without a running daemon, valid key, profile or config file", async () => {
    expect(await shell.run("__complete bash workers delete @", { env: { RUNTIMECTL_URL: "http://127.0.0.1:1" } })).toEqual(nothing);
    expect(await shell.run("__complete bash workers delete @", { env: { RUNTIMECTL_KEY: "wrong" } })).toEqual(nothing);
    expect(await shell.run("__complete bash -p nobody workers delete @")).toEqual(nothing);
    await writeTree(shell.home, { "broken/config.yaml": "a: [" });
    expect(await shell.run("__complete bash profile use d", { env: { RUNTIMECTL_CONFIG_DIR: `${shell.home}/broken` } })).toEqual(nothing);
  });

  test("prints nothing and exits within 3 s when the daemon does not respond", async () => {
    const url = await serve(() => {});
    const startedAtMs = performance.now();
    expect(await shell.run("__complete bash workers delete @", { env: { RUNTIMECTL_URL: url, RUNTIMECTL_KEY: "some-key" } })).toEqual(
      nothing,
    );
    expect(performance.now() - startedAtMs).toBeLessThan(3000);
  });

  test("omits names with shell syntax, escapes control codes and hides the API key", async () => {
    const names = ["\u001b]0;owned\u0007", "$(touch owned)", "a b", "`id`", "good"];
    const rows = names.map((name) => ({
      name,
      path: "/x",
      removable: true,
      source: "uploaded",
      versions: ["1.0.0\u001b[2J"],
      disabledVersions: [],
    }));
    const discovery = { name: "runtimed", api: "/api", version: "1.0.0", cpanel: "/cpanel/", docs: "/api/docs" };
    const url = await serve((request, response) => response.end(JSON.stringify(request.url === "/api/workers" ? rows : discovery)));
    const env = { RUNTIMECTL_URL: url, RUNTIMECTL_KEY: "some-key", RUNTIMECTL_DEBUG: "1", FORCE_COLOR: "1" };
    const run = await shell.run("__complete fish workers delete g", { env });
    expect(run).toEqual({ ...nothing, stdout: "good\t1.0.0\\x1b[2J\n" });
  });
});

const installed = ["zsh", "fish"].filter((name) => (process.env["PATH"] ?? "").split(":").some((folder) => isThere(`${folder}/${name}`)));

function isThere(file: string): boolean {
  try {
    return execFileSync("test", ["-x", file]).length === 0;
  } catch {
    return false;
  }
}

test("runtimectl's completion scripts for zsh and fish have no syntax error", () => {
  for (const name of installed) execFileSync(name, ["-n", path.join(shell.home, `completion.${name}`)]);
  expect(Object.keys(completionScripts)).toEqual(["bash", "zsh", "fish"]);
});
