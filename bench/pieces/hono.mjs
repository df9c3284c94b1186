import path from "node:path";
import { fileURLToPath } from "node:url";
import { readFile } from "node:fs/promises";
import { build } from "esbuild";
import { compareLoad } from "../support/compare-load.mjs";
import { startDaemon } from "../support/daemon.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { hasPackage, versionOf } from "../support/peer-packages.mjs";
import { unavailableRow } from "../support/rows.mjs";
import { startPeer } from "../support/server.mjs";

export const name = "hono";

const work = "Hono app, three routes and a parameter, 32 connections";
const answers = {
  "/": "Welcome",
  "/search?q=fox": JSON.stringify({ query: "fox", found: [1, 2, 3] }),
  "/users/42": JSON.stringify({ id: "42", name: "Ada" }),
};

export async function run(stage) {
  if (!hasPackage("@hono/node-server")) return [unavailableRow(work, "@hono/node-server", "bench/node_modules has no @hono/node-server.")];
  const bundle = path.join(await stage.temporaryDirectory(), "app.mjs");
  await build({
    entryPoints: [fileURLToPath(new URL("../workers/hono-app.js", import.meta.url))],
    outfile: bundle,
    bundle: true,
    format: "esm",
    platform: "node",
    logLevel: "warning",
  });
  const daemon = await startDaemon(stage, { workers: { app: { files: { "index.js": await readFile(bundle) } } } });
  const peer = await startPeer(stage, "hono-node-server.mjs", bundle);
  for (const [route, body] of Object.entries(answers)) {
    await expectAnswer(`${daemon.url}/app${route}`, { text: body });
    await expectAnswer(`${peer.url}${route}`, { text: body });
  }
  const row = { work, against: `the same app on @hono/node-server ${versionOf("@hono/node-server")}`, target: { atLeast: 0.75 } };
  const routes = Object.keys(answers);
  return await compareLoad(stage, row, {
    ours: { url: daemon.url, paths: routes.map((route) => `/app${route}`) },
    theirs: { url: peer.url, paths: routes },
  });
}
