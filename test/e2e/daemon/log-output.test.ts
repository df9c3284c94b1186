import { expect, onTestFinished, test } from "vitest";
import { connect, uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";

/** Several isolates, since each can log 1 MB per second at most: together more than the log's buffer and a pipe hold. */
const floods = 4;
const entriesOfFlood = 180;
const logged = "an entry of the flood";
const lost = "log lines were dropped";
const source = `export default { fetch(request) {
  if (!new URL(request.url).pathname.endsWith("/flood")) return new Response("ok");
  for (let entry = 0; entry < ${entriesOfFlood}; entry += 1) console.log("${logged} ".padEnd(5000, "x"));
  return new Response("flooded");
} };`;

const textOf = async (url: string) => (await fetch(url)).text();

async function startLoud(): Promise<TestDaemon> {
  const daemon = await startDaemon();
  onTestFinished(daemon.dispose);
  const archive = await packFiles({ "manifest.yaml": manifestOf("loud", "1.0.0", "ttl: 0"), "index.js": source });
  await connect(daemon.url, daemon.rootKey).workers.upload({ file: uploadOf("loud.tgz", archive) });
  return daemon;
}

async function flood(daemon: TestDaemon): Promise<void> {
  for (let turn = 0; turn < floods; turn += 1) expect(await textOf(`${daemon.url}/loud/flood`)).toBe("flooded");
}

test("the daemon serves without a log reader, and later logs the number of lost lines", async () => {
  const daemon = await startLoud();
  daemon.process.stdout?.pause();
  await flood(daemon);
  expect(await textOf(`${daemon.url}/loud/`)).toBe("ok");
  expect(daemon.output()).not.toContain(lost);

  daemon.process.stdout?.resume();

  await expect.poll(daemon.output, { timeout: 10_000 }).toContain(lost);
  const [, told] = /"lines":(\d+),"msg":"log lines were dropped/.exec(daemon.output()) ?? [];
  const written = daemon.output().split(logged).length - 1;
  expect(written).toBeGreaterThan(0);
  expect(Number(told) + written).toBeGreaterThanOrEqual(floods * entriesOfFlood);
});

test.each(["pause", "destroy"] as const)(
  "the daemon serves and exits with 0 when no process reads its log (stdout: %s)",
  async (turnAway) => {
    const daemon = await startLoud();
    daemon.process.stdout?.[turnAway]();
    await flood(daemon);
    expect(await textOf(`${daemon.url}/loud/`)).toBe("ok");
    expect(await daemon.stop()).toBe(0);
  },
);
