import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { CountingLoad } from "../support/counting-load.js";
import { InstanceHarness, answerAt, filesPerApp, uploadApp } from "./instance-harness.js";
import { Operators } from "./operators.js";

const kills = 40;
/** Each kill comes at a random time within this span after the previous recovery. */
const killSpanMs = 1_500;
/** Longest time for which a killed server is down. */
const downSpanMs = 1_500;
/** nginx skips a failed daemon for up to 3 s (`fail_timeout=2s`, in whole seconds). If it skipped all three, requests would fail. */
const killAndNextButOneMs = 4_000;
const settledMs = 60_000;
/**
 * Responses for a change whose daemon was killed (502), or which the daemon rejected without the registry or the primary. nginx sends a
 * completed DELETE again to the next daemon, which responds with 404. A change whose answer was lost can still be in progress.
 */
const explained = new Set([
  "status 502",
  "status 504",
  "KEY_NOT_FOUND",
  "WORKER_NOT_FOUND",
  "WORKER_VERSION_NOT_FOUND",
  "KEY_STORE_UNAVAILABLE",
  "PACKAGE_STORE_UNAVAILABLE",
  "PACKAGE_UNAVAILABLE",
  "CHANGE_CONFLICT",
]);
/** Failures of a client while nginx itself is down. */
const nginxIsDown = /ECONNREFUSED|ECONNRESET|EPIPE|UND_ERR_SOCKET|other side closed/;

interface Component {
  readonly name: string;
  readonly kill: () => Promise<void>;
  readonly start: () => Promise<void>;
}

test(`daemons behind nginx lose no confirmed change and no request in ${kills} kills`, { timeout: 30 * 60_000 }, async () => {
  const fleet = await InstanceHarness.open();
  await uploadApp(fleet.client, "steady", "well");
  for (const { url } of fleet.instances) await expect.poll(() => answerAt(url, "/steady/"), { timeout: settledMs }).toBe("well");
  const operators = new Operators(fleet);
  await operators.start();
  const load = new CountingLoad(`${fleet.url}/steady/`, { ca: fleet.ca, pauseMs: 5 });
  onTestFinished(() => load.stop());
  const daemons: Component[] = fleet.instances.map(({ name, kill, start }) => ({ name: `daemon ${name}`, kill, start }));
  const { primary, registry, nginx } = fleet;
  const engines: Component[] = [
    { name: "sqld", kill: primary.kill, start: primary.restart },
    { name: "docker-registry", kill: registry.kill, start: registry.restart },
    { name: "nginx", kill: nginx.kill, start: nginx.start },
  ];

  const killed = new Map<string, number>();
  const components = [...daemons, ...engines];
  /** Components that the current cycle still has to kill. Each cycle kills each once, in a random order. */
  let open: Component[] = [];
  const killedDaemonAtMs: number[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    await delay(Math.random() * killSpanMs);
    if (open.length === 0) open = [...components];
    const [component] = open.splice(Math.floor(Math.random() * open.length), 1) as [Component];
    const isDaemon = daemons.includes(component);
    if (isDaemon) {
      const lastButOneMs = killedDaemonAtMs.at(-2) ?? -Infinity;
      await delay(Math.max(0, lastButOneMs + killAndNextButOneMs - performance.now()));
      killedDaemonAtMs.push(performance.now());
    }
    killed.set(component.name, (killed.get(component.name) ?? 0) + 1);
    await component.kill();
    // The sockets of a killed daemon queue connections, so a daemon restarts immediately, like under systemd.
    if (!isDaemon) await delay(Math.random() * downSpanMs);
    await component.start();
  }
  await operators.stop();
  await load.stop();

  for (const instance of fleet.instances) await operators.expectLedgerHolds(instance);
  console.log(`${kills} kills:`, killed, `${operators.ledger.acknowledged} changes acknowledged, ${operators.ledger.open} open`);
  console.log("served:", load.answers, "calls that failed:", operators.failures);
  expect([...load.answers.keys()].filter((answer) => answer !== "200 well" && !nginxIsDown.test(answer))).toEqual([]);
  const unexplained = [...operators.failures.keys()].filter((failure) => !explained.has(failure) && !nginxIsDown.test(failure));
  expect(unexplained).toEqual([]);
  // The test needs kills during changes.
  expect(operators.ledger.open).toBeGreaterThan(0);
  expect(operators.ledger.acknowledged).toBeGreaterThan(kills);
  for (const { directory } of fleet.instances) {
    const workersDirectory = path.join(directory, "workers");
    await expect.poll(() => leftoversIn(workersDirectory), { timeout: settledMs }).toEqual([]);
    for (const folder of await installedIn(workersDirectory)) expect([folder, await editionsIn(folder)]).toEqual([folder, 1]);
  }
});

/** Returns the folders of installed versions. */
async function installedIn(workersDirectory: string): Promise<string[]> {
  const names = (await readdir(workersDirectory)).filter((name) => !name.startsWith("."));
  const folders = names.map((name) => path.join(workersDirectory, name, "1.0.0"));
  return folders.filter((folder) => existsSync(folder));
}

/** Counts the editions of `uploadApp` whose files are in a folder. Expects all files. */
async function editionsIn(folder: string): Promise<number> {
  const files = await readdir(path.join(folder, "files"));
  expect([folder, files.length]).toEqual([folder, filesPerApp]);
  return new Set(await Promise.all(files.map((file) => readFile(path.join(folder, "files", file), "utf8")))).size;
}

async function leftoversIn(workersDirectory: string): Promise<string[]> {
  return await readdir(path.join(workersDirectory, ".staging")).catch(() => []);
}
