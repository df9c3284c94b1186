import { afterAll, beforeAll, expect, test } from "vitest";
import { listedWorker } from "../../support/fake-daemon.js";
import { keys } from "../../support/terminal-window.js";
import { ShellSession } from "../cli/shell-session.js";
import { openOnFakeDaemon, type Asked } from "./dashboard-session.js";

let shell: ShellSession;

beforeAll(async () => {
  shell = await ShellSession.open();
});

afterAll(() => shell?.close());

const lookAt = (...asked: Asked) => openOnFakeDaemon(shell, ...asked);

test("escapes control characters in names on every screen", async () => {
  const name = "evil\u001b]0;owned\u0007\u001b[2J\u202e";
  const { window } = await lookAt({ "/api/workers": [listedWorker(name)] }, "--screen workers", { columns: 140 });
  await window.waitFor(String.raw`> evil\x1b]0;owned\x07\x1b[2J\u{202e} `);
  expect(window.written()).not.toContain("\u001b]0;");
  expect(window.written()).not.toContain("\u202e");
  window.press("/evil\r");
  await window.waitFor("filter: evil");
  window.press("x");
  await window.waitFor("Equivalent commands");
  window.press(`${keys.esc}:workers list${keys.enter}`);
  await window.waitFor("→ 0");
  expect(window.written()).not.toContain("\u001b]0;");
});

test("responds to pressed keys within 50 ms with 2,000 workers", async () => {
  const workers = Array.from({ length: 2000 }, (_, index) => listedWorker(`worker-${String(index).padStart(4, "0")}`));
  const { window } = await lookAt({ "/api/workers": workers }, "--screen workers", { columns: 140, rows: 45 });
  await window.waitFor("> worker-0000");
  const times: number[] = [];
  const press = async (key: string, expected: string) => {
    const pressedAtMs = performance.now();
    window.press(key);
    await window.waitFor(expected);
    times.push(performance.now() - pressedAtMs);
  };
  for (let index = 1; index <= 30; index += 1) await press("j", `> worker-${String(index).padStart(4, "0")}`);
  await press("G", "> worker-1999");
  await press("g", "> worker-0000");
  await press("/", "filter:");
  await press("0199", "> worker-0199");
  // The median, because other load of the machine affects single values.
  const median = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];
  expect(median).toBeLessThan(50);
});

test("draws one complete screen when the terminal is resized while data is loading", async () => {
  const { daemon, window } = await lookAt({ "/api/workers": [listedWorker("shop")] }, "--screen workers", { columns: 140, rows: 45 });
  daemon.hold();
  await window.waitFor("Workers");
  await window.resize(80, 24);
  await window.waitFor(() => window.text().split("\n").length === 23);
  await window.resize(40, 10);
  // At 40 columns the sentence takes two lines.
  await window.waitFor(/too small: 40x10,\s+required 60x15/);
  await window.resize(60, 15);
  await window.waitFor("[Workers]");
  daemon.letGo();
  await window.waitFor(/> shop +1\.0\.0/);
  await window.resize(120, 30);
  await window.waitFor("uploaded · /srv/workers/shop");
  expect(window.text()).not.toContain("too small");
  expect(window.text().match(/> shop/g)).toHaveLength(1);
  expect(window.written()).not.toContain("\u001b[3J");
});

test("writes no color codes with NO_COLOR, and shows states as words", async () => {
  const worker = { ...listedWorker("shop"), disabledVersions: ["1.0.0"] };
  const { window } = await lookAt({ "/api/workers": [worker] }, "--screen workers", { env: { NO_COLOR: "1" } });
  await window.waitFor(/> shop +1\.0\.0 +○ disabled/);
  // oxlint-disable-next-line no-control-regex -- colours are escape sequences
  expect(window.written()).not.toMatch(/\u001b\[[0-9;]*m/);
});

test("writes nothing to the terminal while the data is unchanged", async () => {
  const { daemon, window } = await lookAt({ "/api/workers": [listedWorker("shop")] }, "--screen workers --refresh 1s");
  await window.waitFor(/> shop +1\.0\.0/);
  await window.waitFor("ready");
  const listings = () => daemon.requests.filter((request) => request === "GET /api/workers").length;
  await expect.poll(listings).toBeGreaterThan(1);
  const before = window.written().length;
  const asked = listings();
  await expect.poll(listings).toBeGreaterThan(asked + 1);
  expect(window.written().length).toBe(before);
});
