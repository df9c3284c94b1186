import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ShellSession } from "./shell-session.js";

let shell: ShellSession;

beforeAll(async () => {
  shell = await ShellSession.open();
});

afterAll(() => shell.close());

interface Plan {
  readonly mode: string;
  readonly changed: boolean;
  readonly steps: readonly { readonly description: string; readonly needed: boolean; readonly content?: string }[];
}

const plan = async (words: string) => JSON.parse((await shell.run(`${words} --json`)).stdout) as Plan;

const serviceOf = async (words: string) =>
  (await plan(`daemon install --user --dry-run ${words}`)).steps.flatMap(({ content = [] }) => content)[0];

test("`daemon install --dry-run` prints each step in order and changes nothing", async () => {
  const { status, stdout } = await shell.run("daemon install --user --dry-run");

  expect(status).toBe(0);
  expect(stdout.trim().split("\n")).toEqual([
    `would create a root key in ${shell.home}/.config/runtimed/root-key`,
    `would write ${shell.home}/.config/systemd/user/runtimed.service`,
    `would write ${shell.home}/.config/systemd/user/runtimed.socket`,
    "would run systemctl --user daemon-reload",
    "would run systemctl --user enable runtimed.socket runtimed.service",
    "would run systemctl --user stop runtimed.service runtimed.socket",
    "would run systemctl --user start runtimed.socket",
    "would run systemctl --user restart runtimed.service",
  ]);
  expect(await readdir(shell.home)).toEqual([]);
});

test("`daemon install` writes paths and listen address into the unit file, but no key", async () => {
  const { mode, changed, steps } = await plan("daemon install --user --dry-run --listen [::1]:8123");
  const [service = "", socket = ""] = steps.flatMap(({ content = [] }) => content);

  expect({ mode, changed }).toEqual({ mode: "user", changed: false });
  expect(service).toMatch(/^ExecStart=\S*node\S* \S+\/bin\/runtimed\.js$/m);
  expect(service).toMatch(/^Environment=RUNTIME_ROOT_KEY_FILE=%h\/\.config\/runtimed\/root-key$/m);
  expect(listenLinesOf(socket)).toEqual(["ListenStream=[::1]:8123"]);
});

test("`daemon install` writes the settings for plugin uploads and --panel-host", async () => {
  expect(await serviceOf("")).toMatch(/^Environment=RUNTIME_PLUGIN_UPLOADS=admin$/m);
  expect(await serviceOf("")).not.toMatch(/^Environment=RUNTIME_PANEL_HOST=/m);
  expect(await serviceOf("--panel-host panel.example.org")).toMatch(/^Environment=RUNTIME_PANEL_HOST=panel\.example\.org$/m);
  const refused = await shell.run("daemon install --user --dry-run --panel-host https://panel.example.org");
  expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining("such as panel.example.org")]);
});

test("`daemon install` configures 127.0.0.1 and ::1 when --listen is not set", async () => {
  const { steps } = await plan("daemon install --user --dry-run");
  const [, socket = ""] = steps.flatMap(({ content = [] }) => content);

  expect(listenLinesOf(socket)).toEqual(["ListenStream=127.0.0.1:8000", "ListenStream=[::1]:8000", "FreeBind=yes"]);
});

test('`daemon uninstall --dry-run` prints "nothing to do" when nothing is installed', async () => {
  expect(await shell.run("daemon uninstall --user --purge --dry-run")).toMatchObject({ status: 0, stdout: "nothing to do\n" });
});

test("`daemon install` changes nothing when the user does not confirm", async () => {
  const { status, stderr } = await shell.run("daemon install --root image --node /bin/sh");

  expect(status).toBe(2);
  expect(stderr).toContain("add --yes");
  expect(await readdir(shell.home)).toEqual([]);
});

function listenLinesOf(unit: string): string[] {
  return unit.split("\n").filter((line) => /^(?:ListenStream|FreeBind)=/.test(line));
}
