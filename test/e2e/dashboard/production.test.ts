import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { keys } from "../../support/terminal-window.js";
import { writeTree } from "../../support/write-tree.js";
import { DashboardSession } from "./dashboard-session.js";

let session: DashboardSession;

beforeAll(async () => {
  session = await DashboardSession.open();
  await writeTree(path.join(session.daemon.directory, "plugins/guard"), {
    "manifest.yaml": "name: guard\nversion: 1.0.0\n",
    "plugin.js": "export default {};\n",
  });
  await writeTree(path.join(session.daemon.directory, "plugins/lamp"), {
    "manifest.yaml": "name: lamp\nversion: 1.0.0\n",
    "plugin.js": "export default {};\n",
  });
  await writeTree(session.shell.home, {
    "shop/manifest.yaml": "name: shop\nversion: 1.0.0\n",
    "shop/index.html": "shop",
    "shop-next/manifest.yaml": "name: shop\nversion: 1.1.0\n",
    "shop-next/index.html": "shop",
  });
  for (const words of [
    "plugins reload",
    "keys create --role viewer --name visitor --out visitor.key",
    `profile add prod --url ${session.daemon.url} --production`,
  ]) {
    const { status, stderr } = await session.shell.run(words);
    if (status !== 0) throw new Error(stderr);
  }
});

afterAll(() => session?.close());

const listed = async (words: string) => (await session.shell.run(words)).stdout;

/** Deletions of an item on a production profile. Columns: screen, pressed key, name to type, command that lists the names, message. */
const deletions = [
  ["workers", "D", "app", "workers list", "app and its uploaded versions deleted"],
  ["plugins", "d", "guard", "plugins list", "guard deleted"],
  ["keys", "d", "visitor", "keys list", "(visitor) revoked"],
] as const;

test.each(deletions)("asks for the profile name before a deletion (screen %s)", async (...deletion) => {
  const [screen, key, name, list, done] = deletion;
  const window = await session.tui(`--screen ${screen} --profile prod --key-file root.key`);
  await window.waitFor("PRODUCTION");
  await window.waitFor(name);
  window.press(`/${name}${keys.enter}`);
  await window.waitFor("filter: ");
  await window.waitFor(screen === "keys" ? "d revoke" : "d delete");
  window.press(key);
  await window.waitFor("Type the profile name (prod) to confirm");
  window.press(`${name}${keys.enter}`);
  await window.waitFor("The name does not match. Nothing changed.");
  expect(await listed(list)).toContain(name);
  window.press(keys.esc);
  await window.waitFor("note: nothing changed");
  window.press(key);
  await window.waitFor("Type the profile name (prod) to confirm");
  window.press(`prod${keys.enter}`);
  await window.waitFor(done);
  expect(await listed(list)).not.toContain(name);
});

/** Changes of an item on a production profile. Columns: screen, name, pressed key, consequence, message. */
const changes = [
  ["workers", "shop", "R", "Roll shop back from 1.1.0 to 1.0.0", "done: shop: 1.0.0"],
  ["workers", "shop", "e", "Disable shop 1.1.0; 1.0.0 is then the active version", "shop 1.1.0 is disabled"],
  ["plugins", "lamp", "e", "Disable the plugin lamp", "lamp is disabled"],
] as const;

test.each(changes)("asks for the profile name before a change (screen %s, action %s, shortcut %s)", async (...change) => {
  const [screen, name, key, consequence, done] = change;
  for (const words of ["workers upload shop", "workers upload shop-next", "plugins reload"])
    expect(await session.shell.run(words)).toMatchObject({ status: 0 });
  const window = await session.tui(`--screen ${screen} --profile prod --key-file root.key`);
  await window.waitFor("PRODUCTION");
  await window.waitFor(name);
  window.press(`/${name}${keys.enter}`);
  await window.waitFor("filter: ");
  await window.waitFor("e on/off");
  window.press(key);
  await window.waitFor(consequence);
  window.press(`prod${keys.enter}`);
  await window.waitFor(done);
});

test("requires the profile name for a deletion in the command palette, even with --yes", async () => {
  await session.shell.run("workers upload app");
  const window = await session.tui("--profile prod --key-file root.key");
  await window.waitFor("PRODUCTION");
  window.press(`:workers delete app --yes${keys.enter}`);
  await window.waitFor("Type the profile name (prod) to confirm");
  window.press(`app${keys.enter}`);
  await window.waitFor("The name does not match");
  window.press(keys.esc);
  await window.waitFor("not confirmed; nothing changed");
  expect(await listed("workers list")).toContain("app");
});
