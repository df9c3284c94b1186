import path from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startDaemon } from "../../support/start-daemon.js";
import { keys, type TerminalWindow } from "../../support/terminal-window.js";
import { DashboardSession } from "./dashboard-session.js";
import { steadyText } from "./steady-text.js";

let session: DashboardSession;

beforeAll(async () => {
  session = await DashboardSession.open();
  await run("keys create --role admin --name operator --expires 1y --out operator.key");
  await run("keys create --role editor --name ci-deploy --namespace @team --expires 30d --out ci.key");
  await run("keys create --permission workers:read --name blind --expires never --out blind.key");
});

afterAll(() => session?.close());

async function run(words: string): Promise<string> {
  const { status, stdout, stderr } = await session.shell.run(words);
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

/** Returns the names in the list of keys, as another program sees it. */
async function keyNames(): Promise<string[]> {
  const { keys: listed } = JSON.parse(await run("keys list --json")) as { keys: { name: string }[] };
  return listed.map(({ name }) => name);
}

const secretIn = (window: TerminalWindow) => /rtk_[\w-]{30,}/.exec(window.text())?.[0] ?? "";

async function principalOf(key: string): Promise<unknown> {
  const response = await fetch(`${session.daemon.url}/api/admin/session`, { headers: { authorization: `Bearer ${key}` } });
  return response.json();
}

test.each([
  [60, 15],
  [80, 24],
  [140, 45],
])("lists the API keys in a terminal of %dx%d and marks the API key in use", async (columns, rows) => {
  const window = await session.tui(`--screen keys --url ${session.daemon.url} --key-file operator.key`, { columns, rows });
  await window.waitFor("as operator (admin)");
  await window.waitFor("operator (in use)");
  if (columns < 80) window.press(`/operator${keys.enter}${keys.enter}`);
  else window.press(`/operator${keys.enter}`);
  await window.waitFor("by this dashboard; a key cannot revoke itself");
  await window.waitFor("q quit");
  if (columns >= 80) await window.waitFor("1 of 3 keys  filter");
  await window.waitFor("ready");
  await expect(steadyText(await window.settledText())).toMatchFileSnapshot(`screens/keys-${columns}x${rows}.txt`);
});

test("does not revoke the API key in use, and shows the reason", async () => {
  const window = await session.tui(`--screen keys --url ${session.daemon.url} --key-file operator.key`, { columns: 120, rows: 24 });
  await window.waitFor("operator (in use)");
  window.press(`/operator${keys.enter}`);
  await window.waitFor("1 of 3 keys");
  window.press("d");
  await window.waitFor("a key cannot revoke itself; to revoke operator");
  expect(await keyNames()).toContain("operator");
});

test("shows a new API key until the dialog closes, then erases it from the terminal", async () => {
  const window = await session.tui("--screen keys");
  await window.waitFor("ci-deploy");
  window.press("c");
  await window.waitFor("New key");
  window.press(`release${keys.tab} ${keys.tab}${keys.tab}`);
  await window.waitFor("(custom)");
  window.press(`${keys.up} ${keys.right} ${keys.tab}`);
  await window.waitFor("[x] read [x] install [ ] remove");
  window.press(`\u0015@team @other${keys.tab}\u00156m`);
  await window.waitFor(/lifetime \(expires \d{4}-\d\d-\d\d\) 6m/);
  const end = new Date(Date.now() + 180 * 86_400_000).toISOString().slice(0, 10);
  expect(window.text()).toContain(`(expires ${end})`);
  window.press(keys.enter);
  await window.waitFor("This key is shown only once");
  const secret = secretIn(window);
  expect(secret).toHaveLength(47);
  expect(window.text()).toContain(`release, custom, namespaces @team @other, expires ${end}`);
  expect(await principalOf(secret)).toMatchObject({
    principal: { name: "release", permissions: ["workers:read", "workers:install"], namespaces: ["@team", "@other"] },
  });
  window.press("y");
  await window.waitFor("copied");
  expect(window.written()).toContain(`\u001b]52;c;${Buffer.from(secret).toString("base64")}\u0007`);
  window.press("q");
  await window.waitFor("Did you store the key?");
  window.press("n");
  await window.waitFor("esc close");
  expect(secretIn(window)).toBe(secret);
  window.press(keys.esc);
  await window.waitFor("Did you store the key?");
  window.press("y");
  await window.waitFor("release");
  await window.waitFor(() => !window.text().includes(secret));
  window.press("?");
  await window.waitFor("Available keys");
  window.press(`${keys.esc}q`);
  await window.ended;
  expect(window.remembered()).not.toContain(secret);
  expect(window.remembered()).not.toContain(secret.slice(12));
});

test("erases a displayed API key from the terminal when ctrl-c is pressed", async () => {
  const window = await session.tui("--screen keys");
  await window.waitFor("ci-deploy");
  window.press("c");
  await window.waitFor("New key");
  window.press(`short-lived${keys.tab}${keys.tab}${keys.tab}${keys.enter}`);
  await window.waitFor("This key is shown only once");
  const secret = secretIn(window);
  window.press(keys.ctrlC);
  await window.ended;
  expect(secret).toHaveLength(47);
  expect(window.remembered()).not.toContain(secret.slice(12));
});

test.each([
  [60, 15],
  [80, 24],
  [140, 45],
])("shows every permission in the form for an API key in a terminal of %dx%d", async (columns, rows) => {
  const window = await session.tui("--screen keys", { columns, rows });
  await window.waitFor("as root (admin)");
  await window.waitFor("ci-deploy");
  window.press("c");
  await window.waitFor("New key");
  window.press(`x${keys.tab} ${keys.tab}  `);
  await window.waitFor(/keys +\[ \] read \[ \] create \[ \] revoke/);
  window.press(`${keys.right} ${keys.tab}${keys.tab}\u0015never${keys.enter}`);
  await window.waitFor("this key will never expire");
  await window.waitFor("ready");
  await expect(steadyText(await window.settledText())).toMatchFileSnapshot(`screens/new-key-${columns}x${rows}.txt`);
  expect(await keyNames()).not.toContain("x");
});

test.each([
  ["no name", keys.tab + keys.tab + keys.tab, "the name is missing"],
  ["an invalid namespace", `a${keys.tab}${keys.tab}\u0015team${keys.tab}`, '"team" is not a namespace'],
  ["an invalid lifetime", `a${keys.tab}${keys.tab}${keys.tab}\u0015soon`, '"soon" is not a lifetime'],
])("creates no API key when the form contains %s", async (_what, typed, reason) => {
  const before = await keyNames();
  const window = await session.tui("--screen keys");
  await window.waitFor("ci-deploy");
  window.press("c");
  await window.waitFor("New key");
  window.press(`${typed}${keys.enter}`);
  await window.waitFor(reason);
  window.press(keys.esc);
  await window.waitFor("LAST USED");
  expect(await keyNames()).toEqual(before);
});

test("shows why the daemon rejects a new API key, and keeps the entered values", async () => {
  const window = await session.tui("--screen keys");
  await window.waitFor("ci-deploy");
  window.press("c");
  await window.waitFor("New key");
  window.press(`${"n".repeat(101)}${keys.tab}${keys.tab}${keys.tab}${keys.enter}`);
  await window.waitFor("must have at most 100 characters");
  expect(window.text()).toContain("lifetime (expires");
  expect(await keyNames()).not.toContain("n".repeat(101));
});

test("revokes an API key only after the user types its name", async () => {
  await run("keys create --role viewer --name leaving --out leaving.key");
  const window = await session.tui("--screen keys");
  await window.waitFor("leaving");
  window.press(`/leaving${keys.enter}`);
  await window.waitFor(/^─ 1 of /m);
  window.press("d");
  await window.waitFor(/Revoke key \d+ \(leaving, viewer/);
  window.press(keys.esc);
  await window.waitFor("nothing changed");
  expect(await keyNames()).toContain("leaving");
  window.press("d");
  await window.waitFor("Type leaving to confirm");
  window.press(`leaving${keys.enter}`);
  await window.waitFor("(leaving) revoked");
  expect(await keyNames()).not.toContain("leaving");
});

test("shows that the permission keys:read is missing, and offers no action", async () => {
  const window = await session.tui(`--screen keys --url ${session.daemon.url} --key-file blind.key`, { columns: 100, rows: 24 });
  await window.waitFor("This screen requires the permission keys:read");
  expect(window.text()).not.toMatch(/create|revoke/);
});

test("does not create or revoke API keys when signed in with a viewer key", async () => {
  await run("keys create --role viewer --name looker --out looker.key");
  const window = await session.tui(`--screen keys --url ${session.daemon.url} --key-file looker.key`);
  await window.waitFor("looker (in use)");
  await window.waitFor("as looker (viewer)");
  const before = await keyNames();
  window.press("c");
  await window.waitFor("your key does not have the required permission keys:create");
  window.press("d");
  await window.waitFor("your key does not have the required permission keys:revoke");
  window.press("?");
  await window.waitFor("Available keys");
  expect(window.text()).not.toMatch(/\b[cd] +(?:create|revoke)/);
  expect(await keyNames()).toEqual(before);
});

test("in read-only mode, ignores the shortcuts to create and revoke API keys", async () => {
  const window = await session.tui("--screen keys --readonly");
  await window.waitFor("ci-deploy");
  await window.waitFor("read-only");
  window.press("cd?");
  await window.waitFor("Available keys");
  expect(window.text()).not.toMatch(/create|revoke/);
});

test("shows how to create the first API key, and keeps the form after a failed call", async () => {
  const own = await DashboardSession.open();
  try {
    const window = await own.tui("--screen keys");
    await window.waitFor("no keys; to create one");
    window.press("c");
    await window.waitFor("New key");
    window.press(`patient${keys.tab}${keys.tab}${keys.tab}`);
    await window.waitFor(/patient/);
    await own.daemon.stop();
    window.press(keys.enter);
    await window.waitFor(/lifetime.*\n+ cannot reach/);
    expect(window.text()).toMatch(/name +patient/);
    expect(window.text()).not.toContain("rtk_");
  } finally {
    await own.close();
  }
});

test("revokes an API key whose name has control codes, and shows the codes escaped", async () => {
  const own = await DashboardSession.open();
  try {
    await own.shell.run("keys create --role viewer --name plain --out plain.key");
    await own.daemon.stop();
    const file = new Database(path.join(own.daemon.directory, "state/keys.db"));
    file.prepare("UPDATE keys SET name = ?").run("\u001b]0;owned\u0007\u001b[2Jevil");
    file.close();
    const daemon = await startDaemon({ directory: own.daemon.directory });
    try {
      const window = await own.tui(`--screen keys --url ${daemon.url} --key-file root.key`);
      await window.waitFor("\\x1b]0;owned\\x07\\x1b[2Jevil, key 1");
      window.press("d");
      await window.waitFor("to confirm");
      window.press(`\\x1b]0;owned\\x07\\x1b[2Jevil${keys.enter}`);
      await window.waitFor("revoked");
      expect(window.written()).not.toContain("\u001b]0;owned");
    } finally {
      await daemon.kill();
    }
  } finally {
    await own.close();
  }
});

test("does not create API keys with --accessible, because the key would stay visible", async () => {
  const before = await keyNames();
  const window = await session.tui("--screen keys --accessible");
  await window.waitFor("ci-deploy");
  window.press("c");
  await window.waitFor("in accessible mode a key would stay");
  window.press(`:keys create --role viewer${keys.enter}`);
  await window.waitFor("add --out FILE");
  expect(await keyNames()).toEqual(before);
});
