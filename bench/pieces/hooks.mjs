import path from "node:path";
import { compareLoad } from "../support/compare-load.mjs";
import { startDaemon, writePackage } from "../support/daemon.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { startPeer } from "../support/server.mjs";
import { workerOf } from "../support/worker-source.mjs";

export const name = "cost of the hook pipeline";

/** Plugins whose hooks change nothing. Their cost is the cost of the request pipeline. */
const hooks = {
  onRequest: { source: "export default { onRequest() {} };\n", target: { atLeast: 0.8 } },
  onResponse: { source: "export default { onResponse() {} };\n", note: "For the record: it has a Response made of every answer." },
};

export async function run(stage) {
  const workers = { app: await workerOf("ok.js") };
  return [...(await withoutPlugins(stage, workers.app)), ...(await withHooks(stage, workers))];
}

/** Runs the same program twice: with the plugin router, and with requests that go directly to the engine. */
async function withoutPlugins(stage, app) {
  const directory = await stage.temporaryDirectory();
  await writePackage(path.join(directory, "workers/app/1.0.0"), "app", app);
  const [router, engine] = [
    await startPeer(stage, "without-router.mjs", "router", directory),
    await startPeer(stage, "without-router.mjs", "engine", directory),
  ];
  const row = { work: "no plugin, 32 connections", against: "the engine without the plugin router", target: { atLeast: 0.95 } };
  for (const { url } of [router, engine]) await expectAnswer(`${url}/app/`, { text: "ok" });
  const rows = await compareLoad(stage, row, { ours: { url: `${router.url}/app/` }, theirs: { url: `${engine.url}/app/` } });
  await Promise.all([router.stop(), engine.stop()]);
  return rows;
}

async function withHooks(stage, workers) {
  const plain = await startDaemon(stage, { workers });
  await expectAnswer(`${plain.url}/app/`, { text: "ok" });
  const rows = [];
  for (const [hook, { source, target, note }] of Object.entries(hooks)) {
    const hooked = await startDaemon(stage, { workers, plugins: { "pass-through": { files: { "plugin.mjs": source } } } });
    await expectAnswer(`${hooked.url}/app/`, { text: "ok" });
    await expectLoaded(hooked, "pass-through");
    const row = { work: `one pass-through ${hook}, 32 connections`, against: "the same daemon without plugins", target, note };
    rows.push(...(await compareLoad(stage, row, { ours: { url: `${hooked.url}/app/` }, theirs: { url: `${plain.url}/app/` } })));
    await hooked.stop();
  }
  return rows;
}

/** Fails if the plugin is not loaded, because its cost would then be zero. */
async function expectLoaded({ url, headers }, plugin) {
  const response = await fetch(`${url}/api/plugins/loaded`, { headers });
  const loaded = response.ok ? await response.json() : [];
  if (!loaded.some(({ name: known }) => known === plugin)) throw new Error(`${plugin} is not loaded: ${response.status}`);
}
