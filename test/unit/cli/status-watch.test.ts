import { describe, expect, onTestFinished, test } from "vitest";
import { runCli } from "../../../src/cli/run-cli.js";
import { createTestIo } from "../../support/create-test-io.js";
import { startFakeDaemon, WireAnswer } from "../../support/fake-daemon.js";
import { freePort } from "../../support/free-port.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

interface Line {
  readonly ready: boolean;
  readonly readiness: string;
}

/** Runs `status --watch` until the daemon is ready. Calls `onFirstLine` after the first line. Returns all lines and the exit code. */
async function watchUntilReady(url: string, onFirstLine: () => void): Promise<{ status: number; lines: Line[]; stderr: string }> {
  const home = await temporaryDirectory();
  const interrupt = new AbortController();
  const lines: Line[] = [];
  const io = createTestIo();
  const writeStdout = (text: string): void => {
    lines.push(JSON.parse(text) as Line);
    if (lines.at(-1)?.ready) interrupt.abort();
    else if (lines.length === 1) onFirstLine();
  };
  const argv = ["status", "--watch", "--json", "--url", url];
  const status = await runCli({ argv, env: { HOME: home, TMPDIR: home }, cwd: home, io: { ...io, writeStdout }, signal: interrupt.signal });
  return { status, lines, stderr: io.stderrText() };
}

describe("runtimectl status --watch", () => {
  test("waits for a daemon that does not run yet", async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const { status, lines, stderr } = await watchUntilReady(url, () => {
      void startFakeDaemon({}, port).then((daemon) => onTestFinished(daemon.close));
    });
    expect({ status, stderr }).toEqual({ status: 130, stderr: expect.not.stringContaining("cannot reach") });
    expect(lines).toMatchObject([
      { url, ready: false, readiness: `cannot reach ${url}: connection refused` },
      { url, ready: true, readiness: "ready", version: "1.2.3" },
    ]);
  }, 20_000);

  test("shows the reason why a daemon is not ready in words", async () => {
    const starting = "The daemon is starting. Retry after 1 second.";
    const answers: Record<string, unknown> = { "/.well-known/runtime": WireAnswer.refusal(503, "NOT_READY", starting) };
    const daemon = await startFakeDaemon(answers);
    onTestFinished(daemon.close);
    const { lines } = await watchUntilReady(daemon.url, () => delete answers["/.well-known/runtime"]);
    expect(lines).toMatchObject([{ readiness: starting }, { readiness: "ready" }]);
  }, 20_000);
});
