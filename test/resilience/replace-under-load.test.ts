import autocannon from "autocannon";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { installationFileName } from "../../src/shared/installation-file-name.js";
import { connect, uploadOf } from "../support/connect.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

const uploadsAtOnce = 20;
const replacements = 15;

let daemon: TestDaemon;

beforeEach(async () => {
  daemon = await startDaemon();
});

afterEach(async () => {
  await daemon.dispose();
});

test(`a daemon keeps one complete version after ${uploadsAtOnce} concurrent uploads`, async () => {
  const client = connect(daemon.url, daemon.rootKey);
  const archives = await Promise.all(
    Array.from({ length: uploadsAtOnce }, async (_, index) => {
      const files = Array.from({ length: 30 }, (_unused, file): [string, string] => [`file-${file}.txt`, `upload ${index}`]);
      return await packFiles({
        "manifest.yaml": manifestOf("contested", "1.0.0"),
        "index.html": `upload ${index}`,
        ...Object.fromEntries(files),
      });
    }),
  );
  const answers = await Promise.all(archives.map((archive) => client.workers.upload({ file: uploadOf("contested.tgz", archive) })));
  expect(answers.map(({ success }) => success)).toEqual(archives.map(() => true));
  const folder = path.join(daemon.directory, "workers", "contested", "1.0.0");
  const names = (await readdir(folder)).filter((name) => name !== "manifest.yaml" && name !== installationFileName);
  expect(names).toHaveLength(31);
  const contents = new Set(await Promise.all(names.map((name) => readFile(path.join(folder, name), "utf8"))));
  expect(contents.size).toBe(1);
  expect(await (await fetch(`${daemon.url}/contested/`)).text()).toBe([...contents][0]);
  await expect.poll(() => readdir(path.join(daemon.directory, "workers", ".staging")).catch(() => []), { timeout: 10_000 }).toEqual([]);
});

test("a daemon fails no request during repeated uploads of workers under load", async () => {
  const client = connect(daemon.url, daemon.rootKey);
  const upload = async (round: number) => {
    const code = `import { text } from "./text.js";\nexport default { fetch: () => new Response(text) };`;
    const worker = { "manifest.yaml": manifestOf("code", "1.0.0"), "index.js": code, "text.js": `export const text = "round ${round}";` };
    const site = { "manifest.yaml": manifestOf("site", "1.0.0"), "index.html": `round ${round}` };
    await client.workers.upload({ file: uploadOf("code.tgz", await packFiles(worker)) });
    await client.workers.upload({ file: uploadOf("site.tgz", await packFiles(site)) });
    // New code is active immediately: the first request after the response uses it.
    expect(await (await fetch(`${daemon.url}/code/`)).text()).toBe(`round ${round}`);
    expect(await (await fetch(`${daemon.url}/site/`)).text()).toBe(`round ${round}`);
  };
  await upload(0);
  const { stop, finished } = startLoad();
  for (let round = 1; round <= replacements; round += 1) await upload(round);
  stop();
  const result = await finished;
  expect(result["2xx"]).toBeGreaterThan(500);
  expect({ non2xx: result.non2xx, errors: result.errors, timeouts: result.timeouts }).toEqual({ non2xx: 0, errors: 0, timeouts: 0 });
}, 120_000);

/** Loads both workers until `stop` is called. */
function startLoad(): { stop: () => void; finished: Promise<autocannon.Result> } {
  const started: { load?: autocannon.Instance } = {};
  const finished = new Promise<autocannon.Result>((resolve, reject) => {
    const options = { url: daemon.url, connections: 16, duration: 60, requests: [{ path: "/code/" }, { path: "/site/" }] };
    started.load = autocannon(options, (error: Error | null, result) => (error ? reject(error) : resolve(result)));
  });
  return { stop: () => started.load?.stop(), finished };
}
