import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { spawnedBy } from "../../support/child-processes.js";
import { listenForNotes } from "../../support/notify-listener.js";
import { startDaemon } from "../../support/start-daemon.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

/** Long enough for a busy machine to start an isolate, short enough to see several watchdog notifications in a test. */
const watchdogMs = 2000;

describe("the service manager of a daemon", () => {
  test.each(["path", "abstract name"])("receives READY and STOPPING notifications at its socket (address: %s)", async (kind) => {
    const directory = await temporaryDirectory();
    const address = kind === "path" ? path.join(directory, "notify") : `@runtimed-test-${path.basename(directory)}`;
    const manager = await listenForNotes(address);
    const daemon = await startDaemon({ env: { NOTIFY_SOCKET: address } });
    onTestFinished(daemon.dispose);

    await expect.poll(() => manager.notes).toHaveLength(1);
    expect(manager.notes[0]).toMatch(
      new RegExp(`^READY=1\nSTATUS=serving at ${daemon.url}; isolates: 0 in use, \\d waiting; plugins: \\d$`),
    );
    expect(await daemon.stop()).toBe(0);

    await expect.poll(() => manager.notes).toHaveLength(2);
    expect(manager.notes[1]).toBe("STOPPING=1\nSTATUS=finishing what is in flight");
  });

  test("is optional: without the socket, the daemon logs a warning and continues", async () => {
    const directory = await temporaryDirectory();
    const daemon = await startDaemon({ env: { NOTIFY_SOCKET: path.join(directory, "nobody") } });
    onTestFinished(daemon.dispose);

    await expect.poll(daemon.output).toContain("a notification could not be sent to systemd");
    expect((await fetch(`${daemon.url}/api/health/ready`)).status).toBe(200);
    expect(await daemon.stop()).toBe(0);
  });

  test("receives watchdog notifications only while isolates of the daemon respond", async () => {
    const address = path.join(await temporaryDirectory(), "notify");
    const manager = await listenForNotes(address);
    const daemon = await startDaemon({ env: { NOTIFY_SOCKET: address, WATCHDOG_USEC: String(watchdogMs * 1000) } });
    onTestFinished(daemon.dispose);
    const isolates = () => spawnedBy(daemon.process.pid ?? 0);
    await expect.poll(() => manager.withLine("WATCHDOG=1").length).toBeGreaterThan(1);
    await expect.poll(() => isolates().length).toBeGreaterThan(1);

    for (const isolate of isolates()) process.kill(isolate, "SIGSTOP");
    await expect.poll(daemon.output).toContain("the daemon's self-check does not end");
    const fed = manager.withLine("WATCHDOG=1").length;
    // The daemon keeps serving: the service manager decides whether to restart it.
    expect((await fetch(`${daemon.url}/api/health/live`)).status).toBe(200);
    for (const isolate of isolates()) process.kill(isolate, "SIGCONT");

    await expect.poll(() => manager.withLine("WATCHDOG=1").length).toBeGreaterThan(fed);
  });

  test("receives watchdog notifications again after killed isolates were replaced", async () => {
    const address = path.join(await temporaryDirectory(), "notify");
    const manager = await listenForNotes(address);
    const daemon = await startDaemon({ env: { NOTIFY_SOCKET: address, WATCHDOG_USEC: String(watchdogMs * 1000) } });
    onTestFinished(daemon.dispose);
    const isolates = () => spawnedBy(daemon.process.pid ?? 0);
    await expect.poll(() => isolates().length).toBeGreaterThan(1);
    const before = isolates();

    for (const isolate of before) process.kill(isolate, "SIGKILL");

    await expect.poll(() => isolates().filter((isolate) => !before.includes(isolate)).length).toBeGreaterThan(1);
    const fed = manager.withLine("WATCHDOG=1").length;
    await expect.poll(() => manager.withLine("WATCHDOG=1").length).toBeGreaterThan(fed);
  });
});
