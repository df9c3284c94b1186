import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { keys, TerminalWindow } from "../../support/terminal-window.js";
import { DashboardSession } from "./dashboard-session.js";

let session: DashboardSession;

beforeAll(async () => {
  session = await DashboardSession.open();
});

afterAll(() => session?.close());

function onlyChildOf(pid: number | undefined): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0]);
}

/** Returns the pid of the dashboard, the only child of `script`, whose shell it has replaced. */
function dashboardIn(window: TerminalWindow): number {
  return onlyChildOf(window.process.pid);
}

function expectRestored(window: TerminalWindow): void {
  expect(window.isAlternateScreen).toBe(false);
  expect(window.written().lastIndexOf("\u001b[?25h")).toBeGreaterThan(window.written().lastIndexOf("\u001b[?25l"));
  expect(window.text()).not.toContain("Overview");
}

test.each(["a pipe as stdin", "a pipe as stdout"])("exits and suggests another command when it is started with %s", async (side) => {
  const { shell } = session;
  const run = side === "a pipe as stdin" ? await shell.run("tui") : await shell.runInTerminal("tui | cat");
  if (side === "a pipe as stdin") expect(run.status).toBe(2);
  expect(run.stdout + run.stderr).toContain("status --watch --json");
  expect(run.stdout).not.toContain("\u001b[?1049h");
});

test.each([
  ["q", "q", 0],
  ["ctrl-c", keys.ctrlC, 0],
])("quits and restores the terminal when the key %s is pressed", async (_name, bytes, status) => {
  const window = await session.tui();
  await window.waitFor("ready");
  expect(window.isAlternateScreen).toBe(true);
  window.press(bytes);
  expect(await window.ended).toBe(status);
  expectRestored(window);
});

test.each([
  ["SIGTERM", 143],
  ["SIGINT", 130],
  ["SIGHUP", 129],
] as const)("quits and restores the terminal after the signal %s", async (signal, status) => {
  const window = await session.tui();
  await window.waitFor("ready");
  process.kill(dashboardIn(window), signal);
  expect(await window.ended).toBe(status);
  expectRestored(window);
});

test("suspends when ctrl-z is pressed, and resumes after the shell command fg", async () => {
  const window = await session.inShell();
  window.press(`${session.line("")}\r`);
  await window.waitFor("Overview");
  await window.waitFor("ready");
  window.press(keys.ctrlZ);
  await window.waitFor(() => !window.isAlternateScreen && window.text().includes("Stopped"));
  window.press("stty -a | grep -o ' icanon'; fg\r");
  await window.waitFor(() => window.isAlternateScreen && window.text().includes("ready"));
  window.press("2");
  await window.waitFor(/app +1\.0\.0/);
  window.press("q");
  await window.waitFor(() => !window.isAlternateScreen);
  expect(window.written()).toMatch(/[^'] icanon\r\n/);
  window.press("exit\r");
  await window.ended;
});

test("restores the terminal before it prints an uncaught error", async () => {
  const window = await session.tui("", { env: { NODE_OPTIONS: `--require ${session.shell.home}/fault.cjs` } });
  await window.waitFor("ready");
  process.kill(dashboardIn(window), "SIGUSR2");
  expect(await window.ended).not.toBe(0);
  expectRestored(window);
  expect(window.text()).toContain("a fault of a test");
});

const isRunning = (pid: number) => existsSync(`/proc/${pid}`) && !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");

test("exits without an error when the terminal window is closed", async () => {
  const window = await session.tui("2> closed.txt");
  await window.waitFor("ready");
  const dashboard = dashboardIn(window);
  // The pseudo-terminal closes with this process, because no other process has opened the pseudo-terminal.
  window.process.kill("SIGKILL");
  await expect.poll(() => isRunning(dashboard)).toBe(false);
  expect(readFileSync(path.join(session.shell.home, "closed.txt"), "utf8")).toBe("");
});

test("exits when the parent shell is killed", async () => {
  const { home: cwd } = session.shell;
  const window = await TerminalWindow.open(`${session.line("2> orphaned.txt")}; true`, { columns: 80, rows: 24, cwd });
  onTestFinished(() => window.close());
  await window.waitFor("ready");
  const dashboard = onlyChildOf(dashboardIn(window));
  process.kill(dashboardIn(window), "SIGKILL");
  await expect.poll(() => isRunning(dashboard)).toBe(false);
  expect(readFileSync(path.join(cwd, "orphaned.txt"), "utf8")).toBe("");
});
