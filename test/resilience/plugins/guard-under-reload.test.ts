import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Client } from "../../../src/shared/client.js";
import { connect, uploadOf } from "../../support/connect.js";
import { CountingLoad } from "../../support/counting-load.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";

const reloads = 50;

let daemon: TestDaemon;
let client: Client;

beforeEach(async () => {
  daemon = await startDaemon();
  client = connect(daemon.url, daemon.rootKey);
});

afterEach(() => daemon.dispose());

/** Rejects requests without a ticket and marks the others, so that each response shows whether the guard ran. */
const guardOf = (round: number) => `// round ${round}
export default () => ({
  async onInit() { await new Promise((resolve) => setTimeout(resolve, 5)); },
  onRequest(request) {
    if (request.headers.get("x-ticket") !== "yes") return new Response("refused", { status: 401 });
    const stamped = new Request(request);
    stamped.headers.set("x-guarded", "yes");
    return stamped;
  },
});`;

test(`an onRequest hook is called for each request during ${reloads} plugin reloads`, { timeout: 120_000 }, async () => {
  const app = `export default { fetch: (request) => new Response(request.headers.get("x-guarded") ?? "NOT GUARDED") };`;
  await client.workers.upload({
    file: uploadOf("app.tgz", await packFiles({ "manifest.yaml": manifestOf("app", "1.0.0"), "index.js": app })),
  });
  const upload = async (round: number) => {
    const archive = await packFiles({ "manifest.yaml": "name: guard\n", "plugin.js": guardOf(round) });
    await client.plugins.upload({ file: uploadOf("guard.tgz", archive) });
  };
  await upload(0);
  const admitted = new CountingLoad(`${daemon.url}/app/`, { headers: { "x-ticket": "yes" } });
  const refused = new CountingLoad(`${daemon.url}/app/`);
  for (let round = 1; round <= reloads; round += 1) {
    if (round % 3 === 0) await upload(round);
    if (round % 3 === 1) await writeFile(path.join(daemon.directory, "plugins", "guard", "note.txt"), String(round));
    if (round % 3 !== 0) await client.plugins.reload();
  }
  await Promise.all([admitted.stop(), refused.stop()]);
  expect(admitted.answers).toEqual(new Map([["200 yes", admitted.total]]));
  expect(refused.answers).toEqual(new Map([["401 refused", refused.total]]));
  expect(Math.min(admitted.total, refused.total)).toBeGreaterThan(reloads * 4);
});
