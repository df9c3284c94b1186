import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { compareLoad } from "../support/compare-load.mjs";
import { startDaemon } from "../support/daemon.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { hasPackage, versionOf } from "../support/peer-packages.mjs";
import { unavailableRow } from "../support/rows.mjs";
import { startPeer } from "../support/server.mjs";

export const name = "static";

const script = `export const text = "${"x".repeat(10 * 1024 - 24)}";`;
const files = { "index.html": "<!doctype html><title>site</title>", "app.js": script };

export async function run(stage) {
  if (!hasPackage("sirv")) return [unavailableRow("static file of 10 KB", "sirv", "bench/node_modules has no sirv.")];
  const folder = path.join(await stage.temporaryDirectory(), "site");
  await mkdir(folder);
  for (const [file, content] of Object.entries(files)) await writeFile(path.join(folder, file), content);
  const module = { "server.mjs": "export default { fetch: () => new Response('module') };" };
  const beside = { files: { ...module, "client/app.js": script }, manifest: { entrypoint: "server.mjs", assets: "client" } };
  const daemon = await startDaemon(stage, { workers: { site: { files }, beside } });
  const peer = await startPeer(stage, "sirv.mjs", folder);
  const urls = { ours: `${daemon.url}/site/app.js`, theirs: `${peer.url}/app.js` };
  const sides = {};
  for (const [side, url] of Object.entries(urls)) {
    // Requests the uncompressed file, because each content coding has its own ETag.
    const plain = { "accept-encoding": "identity" };
    const headers = await expectAnswer(url, { text: script, headers: plain });
    const conditional = { ...plain, "if-none-match": headers.get("etag") };
    await expectAnswer(url, { status: 304, text: "", headers: conditional });
    sides[side] = { plain: { url, leastBytes: script.length }, conditional: { url, headers: conditional } };
  }
  const against = `sirv ${versionOf("sirv")} on raw node:http`;
  const target = { atLeast: 0.9 };
  const asset = { url: `${daemon.url}/beside/app.js`, leastBytes: script.length };
  await expectAnswer(asset.url, { text: script, headers: { "accept-encoding": "identity" } });
  const assetRow = {
    work: "asset of 10 KB beside a module, 32 connections",
    against: "the same file of a static site",
    target: { atLeast: 0.95 },
  };
  const both = (kind) => ({ ours: sides.ours[kind], theirs: sides.theirs[kind] });
  return [
    ...(await compareLoad(stage, { work: "static file of 10 KB, 32 connections", against, target }, both("plain"))),
    ...(await compareLoad(stage, { work: "conditional request → 304, 32 connections", against, target }, both("conditional"))),
    ...(await compareLoad(stage, assetRow, { ours: asset, theirs: sides.ours.plain })),
  ];
}
