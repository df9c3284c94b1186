import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import type { TransportRequest } from "../../../src/shared/client.js";
import { WireAnswer } from "../../support/fake-daemon.js";
import { renderDashboard, sessionOf, type DashboardSetup, type RenderedDashboard } from "../../support/render-dashboard.js";
import { keys } from "../../support/terminal-window.js";
import { admin, fileEntry, success, successOf } from "./sample-data.js";

const folders: Readonly<Record<string, unknown[]>> = {
  "": [fileEntry("workers", { isDirectory: true })],
  workers: [fileEntry("workers/app", { isDirectory: true })],
  "workers/app": [
    fileEntry("workers/app/assets", { isDirectory: true }),
    fileEntry("workers/app/data.bin"),
    fileEntry("workers/app/index.js"),
  ],
};
const contents: Readonly<Record<string, Buffer>> = {
  "workers/app/index.js": Buffer.from("line one\n\u001b]0;owned\u0007line two\n"),
  "workers/app/data.bin": Buffer.from([1, 0, 2]),
};
const queryPath = ({ path: target }: TransportRequest) => new URL(target, "http://daemon.test").searchParams.get("path") ?? "";

/** Opens the files screen in the folder `workers/app`. */
async function openFolder(setup: DashboardSetup = {}, answers: Readonly<Record<string, unknown>> = {}): Promise<RenderedDashboard> {
  const usual = {
    "/api/admin/session": admin,
    "/api/workers/files/list": (request: TransportRequest) =>
      successOf({ path: queryPath(request), entries: folders[queryPath(request)] ?? [] }),
    "/api/plugins/files/list": successOf({ path: "", entries: [fileEntry("plugins", { isDirectory: true })] }),
    "/api/workers/files/download": (request: TransportRequest) => contents[queryPath(request)],
  };
  const dashboard = await renderDashboard({ ...usual, ...answers }, { screen: "files", ...setup });
  await dashboard.waitFor("> workers/");
  dashboard.press(keys.enter);
  await dashboard.waitFor("> app/");
  dashboard.press(keys.enter);
  await dashboard.waitFor("> assets/");
  return dashboard;
}

test("the dashboard shows the parent folder after esc is pressed", async () => {
  const dashboard = await openFolder();
  dashboard.press(keys.enter);
  await dashboard.waitFor("this folder is empty; esc goes back");
  dashboard.press(keys.esc);
  await dashboard.waitFor("> assets/");
  dashboard.press(keys.esc);
  await dashboard.waitFor("> app/");
  dashboard.press(keys.esc);
  await dashboard.waitFor("> workers/");
  expect(dashboard.text()).toContain("plugins/");
});

test("the dashboard escapes control characters in a text file", async () => {
  const dashboard = await openFolder();
  dashboard.press(`G${keys.enter}`);
  await dashboard.waitFor(String.raw`\x1b]0;owned\x07line two`);
  expect(dashboard.screen.written()).not.toContain("\u001b]0;owned");
});

test.each([
  ["that is binary", { contents: undefined, reason: "data.bin is not a text file" }],
  ["that the daemon rejects", { contents: WireAnswer.refusal(404, "PATH_NOT_FOUND", "It is gone."), reason: "It is gone." }],
])("the dashboard shows an error with the reason when the user opens a file %s", async (_what, { contents: answer, reason }) => {
  const dashboard = await openFolder({}, answer ? { "/api/workers/files/download": answer } : {});
  dashboard.press("j");
  await dashboard.waitFor("> data.bin");
  dashboard.press(keys.enter);
  await dashboard.waitFor(`failed: ${reason}`);
});

test("the dashboard renames a file, and undo restores the old name", async () => {
  const dashboard = await openFolder({}, { "POST /api/workers/files/rename": success });
  await dashboard.waitFor("c create");
  dashboard.press("G");
  await dashboard.waitFor("> index.js");
  dashboard.press(`M\u0015main.js${keys.enter}`);
  await dashboard.waitFor("done: index.js renamed to main.js · U undoes it");
  dashboard.press("U");
  await dashboard.waitFor("done: main.js renamed back to index.js");
  const bodies = dashboard.transport.requests.filter(({ method }) => method === "POST").map(({ body }) => body);
  expect(bodies).toEqual([
    { path: "workers/app/index.js", newName: "main.js" },
    { path: "workers/app/main.js", newName: "index.js" },
  ]);
});

test("the dashboard creates a folder and moves a file into the folder", async () => {
  const dashboard = await openFolder({}, { "POST /api/workers/files/mkdir": success, "POST /api/workers/files/move": success });
  await dashboard.waitFor("c create");
  dashboard.press(`cimages${keys.enter}`);
  await dashboard.waitFor("done: workers/app/images created");
  dashboard.press("G");
  await dashboard.waitFor("> index.js");
  dashboard.press(`m\u0015workers/app/images${keys.enter}`);
  await dashboard.waitFor("done: workers/app/index.js moved to workers/app/images");
  expect(dashboard.transport.requests.at(-1)?.path).toContain("/api/");
  expect(dashboard.transport.changes()).toEqual(["POST /api/workers/files/mkdir", "POST /api/workers/files/move"]);
});

test("the dashboard deletes a folder only after the user types its name", async () => {
  const dashboard = await openFolder({}, { "DELETE /api/workers/files/delete": success });
  await dashboard.waitFor("c create");
  dashboard.press("d");
  await dashboard.waitFor("Delete the folder and its content workers/app/assets permanently.");
  dashboard.press(`${keys.esc}d`);
  await dashboard.waitFor("Type assets to confirm");
  expect(dashboard.transport.changes()).toEqual([]);
  dashboard.press(`assets${keys.enter}`);
  await dashboard.waitFor("done: workers/app/assets deleted");
  expect(dashboard.transport.changes()).toEqual(["DELETE /api/workers/files/delete"]);
});

test("the dashboard asks before an upload only if the upload overwrites files", async () => {
  const files = { "index.js": "new", "logo.svg": "<svg/>" };
  const dashboard = await openFolder({ files }, { "POST /api/workers/files/upload": success });
  await dashboard.waitFor("u upload");
  dashboard.press(`u\u0015index.js${keys.enter}`);
  await dashboard.waitFor("Overwrite index.js in workers/app.");
  dashboard.press("n");
  await dashboard.waitFor("note: nothing changed");
  expect(dashboard.transport.changes()).toEqual([]);
  dashboard.press(`u\u0015logo.svg${keys.enter}`);
  await dashboard.waitFor("done: 1 file uploaded to workers/app");
  expect(dashboard.transport.requests.findLast(({ method }) => method === "POST")?.body).toContain("<svg/>");
});

test("the dashboard cancels a running upload when esc is pressed", async () => {
  const dashboard = await openFolder({ files: { "logo.svg": "<svg/>" } }, { "POST /api/workers/files/upload": success });
  await dashboard.waitFor("u upload");
  dashboard.press("u");
  await dashboard.waitFor("file or folder to upload to workers/app");
  dashboard.transport.hold();
  dashboard.press(`logo.svg${keys.enter}`);
  await dashboard.waitFor("uploading 1 file");
  dashboard.press(keys.esc);
  await dashboard.waitFor("note: no longer waiting");
});

test("the dashboard saves a file to the local disk, but overwrites no existing file", async () => {
  const dashboard = await openFolder({ files: { "taken.js": "mine" } });
  dashboard.press("G");
  await dashboard.waitFor("> index.js");
  dashboard.press(`${keys.ctrlS}\u0015taken.js${keys.enter}`);
  await dashboard.waitFor("failed: taken.js already exists");
  dashboard.press(`${keys.ctrlS}\u0015copy.js${keys.enter}`);
  await dashboard.waitFor("done: workers/app/index.js saved as copy.js");
  expect(await readFile(path.join(dashboard.directory, "copy.js"))).toEqual(contents["workers/app/index.js"]);
  expect(await readFile(path.join(dashboard.directory, "taken.js"), "utf8")).toBe("mine");
});

test.each([
  ["read-only mode", { isReadOnly: true, permissions: ["workers:read", "workers:install"] }],
  ["a key with only workers:read", { isReadOnly: false, permissions: ["workers:read"] }],
])("with %s, the dashboard offers only to read and save files", async (_who, { isReadOnly, permissions }) => {
  const dashboard = await openFolder({ isReadOnly }, { "/api/admin/session": sessionOf(permissions) });
  await dashboard.waitFor("ctrl-s save");
  dashboard.press("?");
  await dashboard.waitFor("Available keys");
  expect(dashboard.text()).not.toMatch(/upload|new folder|rename|move|delete/);
});
