import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { listedWorker, startFakeDaemon } from "../../support/fake-daemon.js";
import { keys, type TerminalWindow } from "../../support/terminal-window.js";
import { ShellSession } from "../cli/shell-session.js";
import { openTui } from "./dashboard-session.js";

let shell: ShellSession;

beforeAll(async () => {
  shell = await ShellSession.open();
});
afterAll(() => shell?.close());

const workers = [
  { ...listedWorker("@team/shop", ["1.4.2", "1.4.1"]), disabledVersions: ["1.4.1"] },
  { ...listedWorker("hello", ["latest"]), source: "built-in", removable: false },
  listedWorker("todos", ["0.9.0"]),
];

const twoDaysAgo = Math.floor(Date.now() / 1000) - 2 * 86_400;
const hosts = {
  hosts: [{ host: "shop.example.org", worker: "@team/shop", version: "^1", createdAt: twoDaysAgo, createdBy: "deployer" }],
  requested: [{ host: "todos.example.org", worker: "todos" }],
};
const secrets = {
  secrets: [{ name: "STRIPE_KEY", source: "worker", staged: false, setAt: twoDaysAgo, setBy: "deployer" }],
  missing: ["DATABASE_URL"],
};

const instances = [
  { name: "eu-1", id: "1", address: "http://10.0.0.1:8000", version: "1.2.3", isSelf: true, state: "ready", lagSeconds: 0.2, isolates: 12 },
  {
    name: "eu-2",
    id: "2",
    address: "http://10.0.0.2:8000",
    version: "1.2.2",
    isSelf: false,
    state: "draining",
    lagSeconds: 1,
    isolates: 7,
  },
  {
    name: "eu-3",
    id: "3",
    address: "http://10.0.0.3:8000",
    version: "1.2.2",
    isSelf: false,
    state: "unreachable",
    lagSeconds: null,
    isolates: null,
    problem: "It did not respond within 2 s.",
  },
];

async function open(
  words: string,
  [columns, rows]: readonly [number, number],
  answers: Readonly<Record<string, unknown>> = {},
): Promise<TerminalWindow> {
  const usual = { "/api/workers": workers, "/api/hosts": hosts, "/api/workers/%40team/shop/secrets": secrets };
  const daemon = await startFakeDaemon({ ...usual, ...answers });
  onTestFinished(() => daemon.close());
  return openTui(shell, words, { columns, rows, env: { RUNTIMECTL_URL: daemon.url, RUNTIMECTL_KEY: "a-key" } });
}

/** Waits until the window does not change, and returns its text with the digits of the port and of dates replaced by zeros. */
async function seen(window: TerminalWindow): Promise<string> {
  const volatile = /127\.0\.0\.1:(\d+)|\d{4}-\d\d-\d\d \d\d:\d\d/g;
  const text = await window.settledText();
  return `\n${text.replace(volatile, (found, port: string | undefined) => (port === undefined ? found.replaceAll(/\d/g, "0") : `127.0.0.1:${"0".repeat(port.length)}`))}\n`;
}

const sizes = [
  [60, 15],
  [80, 24],
  [140, 45],
] as const;

test.each(sizes)("shows the overview in a terminal of %dx%d", async (...size) => {
  const window = await open("", size);
  await window.waitFor("2 (3 versions)");
  await window.waitFor("loop lag");
  await window.waitFor(/requests +0\/s +▁/);
  await window.waitFor("ready");
  await expect(await seen(window)).toMatchFileSnapshot(`screens/overview-${size.join("x")}.txt`);
});

test.each(sizes)("shows the list of workers in a terminal of %dx%d", async (...size) => {
  const window = await open("--screen workers", size);
  await window.waitFor("> @team/shop");
  await window.waitFor("ready");
  // A list of 60 columns has no room for the details.
  if (size[0] > 60) await window.waitFor("cannot load the log");
  await expect(await seen(window)).toMatchFileSnapshot(`screens/workers-${size.join("x")}.txt`);
});

test.each(sizes)("shows the host names in a terminal of %dx%d", async (...size) => {
  const window = await open("--screen hosts", size);
  await window.waitFor("> shop.example.org");
  await window.waitFor("ready");
  await expect(await seen(window)).toMatchFileSnapshot(`screens/hosts-${size.join("x")}.txt`);
});

test.each(sizes)("shows the instances in a terminal of %dx%d", async (...size) => {
  const window = await open("--screen instances", size, { "/api/instances": instances });
  await window.waitFor("> eu-1 *");
  await window.waitFor("ready · 1 needs attention");
  window.press("jj");
  await window.waitFor("> eu-3");
  await expect(await seen(window)).toMatchFileSnapshot(`screens/instances-${size.join("x")}.txt`);
});

test.each(sizes)("shows the secrets of a worker in a terminal of %dx%d", async (...size) => {
  const window = await open("--screen workers", size);
  await window.waitFor("> @team/shop");
  await window.waitFor("ready");
  window.press("s");
  await window.waitFor("> DATABASE_URL");
  await expect(await seen(window)).toMatchFileSnapshot(`screens/secrets-${size.join("x")}.txt`);
});

test("at 60x15, shows the details after enter is pressed, and the list after esc", async () => {
  const window = await open("--screen workers", sizes[0]);
  await window.waitFor("> @team/shop");
  await window.waitFor("ready");
  window.press(keys.enter);
  await window.waitFor("cannot load the log");
  await expect(await seen(window)).toMatchFileSnapshot("screens/worker-60x15.txt");
  window.press(keys.esc);
  await window.waitFor("> @team/shop");
});

test("filters rows by a word, excludes rows by !word, and shows all rows after esc", async () => {
  const window = await open("--screen workers", sizes[1]);
  await window.waitFor("> @team/shop");
  window.press(`/shop${keys.enter}`);
  await window.waitFor("2 of 3 versions  filter: shop");
  expect(window.text()).not.toContain("todos");
  window.press(`/\u0015!shop${keys.enter}`);
  await window.waitFor("1 of 3 versions  filter: !shop");
  expect(window.text()).not.toContain("1.4.2");
  window.press(keys.esc);
  await window.waitFor("@team/shop");
  expect(window.text(), "the marked entry stays marked").toContain("> todos");
});

test("shows only the available shortcuts of the current screen in the help", async () => {
  const window = await open("", sizes[1]);
  await window.waitFor("ready");
  window.press("?");
  await window.waitFor("Available keys");
  expect(window.text()).not.toContain("page down");
  await expect(await seen(window)).toMatchFileSnapshot("screens/help-80x24.txt");
});

test("with --accessible, prints plain lines and does not redraw the screen", async () => {
  const window = await open("--screen workers --accessible", sizes[1]);
  await window.waitFor("@team/shop");
  expect(window.isAlternateScreen).toBe(false);
  window.press("q");
  expect(await window.ended).toBe(0);
});
