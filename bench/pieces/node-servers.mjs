import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { compareLoad } from "../support/compare-load.mjs";
import { startDaemon } from "../support/daemon.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { startPeer } from "../support/server.mjs";

export const name = "node servers";

const answers = {
  "/": "Welcome",
  "/search?q=fox": JSON.stringify({ query: "fox", found: [1, 2, 3] }),
  "/users/42": JSON.stringify({ id: "42", name: "Ada" }),
};
const programs = [
  { framework: "Express", file: "express-app.js", atLeast: 0.7 },
  { framework: "Fastify", file: "fastify-app.js", atLeast: 0.6 },
];

export async function run(stage) {
  const rows = [];
  for (const { framework, file, atLeast } of programs) {
    const program = path.join(await stage.temporaryDirectory(), "index.cjs");
    await build({
      entryPoints: [fileURLToPath(new URL(`../workers/${file}`, import.meta.url))],
      outfile: program,
      bundle: true,
      format: "cjs",
      platform: "node",
      logLevel: "warning",
    });
    const daemon = await startDaemon(stage, { workers: { app: { files: { "index.js": await readFile(program) } } } });
    const peer = await startPeer(stage, "node-program.mjs", program);
    for (const [route, body] of Object.entries(answers)) {
      await expectAnswer(`${daemon.url}/app${route}`, { text: body });
      await expectAnswer(`${peer.url}${route}`, { text: body });
    }
    const routes = Object.keys(answers);
    const work = `${framework} program that listens, three routes and a parameter, 32 connections`;
    const row = { work, against: "the same program on plain Node", target: { atLeast } };
    rows.push(
      ...(await compareLoad(stage, row, {
        ours: { url: daemon.url, paths: routes.map((route) => `/app${route}`) },
        theirs: { url: peer.url, paths: routes },
      })),
    );
  }
  return rows;
}
