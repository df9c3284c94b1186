import { fileURLToPath } from "node:url";
import { startDaemon } from "../support/daemon.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { peerProgram, versionOf } from "../support/peer-packages.mjs";
import { alternate } from "../support/rounds.mjs";
import { throughputRows, unavailableRow } from "../support/rows.mjs";
import { startPeer, startServer } from "../support/server.mjs";
import { workerOf } from "../support/worker-source.mjs";

export const name = "alongside";

const peersDirectory = fileURLToPath(new URL("../peers/", import.meta.url));

/** Other servers that respond with `ok`. The report compares a warm worker with each of them. */
const others = {
  "plain Koa": async (stage) => await startPeer(stage, "koa.mjs"),
  workerd: startWorkerd,
  Bun: async (stage) => await startProgram(stage, "bun", ["run", "bun-ok.mjs"]),
  Deno: async (stage) => await startProgram(stage, "deno", ["run", "--no-config", "--allow-net", "deno-ok.mjs"]),
};

export async function run(stage) {
  const work = "warm worker answering ok, 32 connections";
  const daemon = await startDaemon(stage, { workers: { app: await workerOf("ok.js") } });
  const urls = { ours: `${daemon.url}/app/` };
  const rows = [];
  for (const [other, start] of Object.entries(others)) {
    try {
      urls[other] = (await start(stage)).url;
      await expectAnswer(urls[other], { text: "ok" });
    } catch (error) {
      delete urls[other];
      rows.push(unavailableRow(work, other, `${other}: ${error.message.split("\n")[0]}`));
    }
  }
  for (const url of Object.values(urls)) await stage.load.warmUp(stage, { url });
  const sides = Object.fromEntries(Object.entries(urls).map(([side, url]) => [side, () => stage.load.measure(stage, { url })]));
  const figures = await alternate(stage.settings.rounds, sides);
  const measured = Object.keys(urls).filter((side) => side !== "ours");
  return [...measured.flatMap((other) => throughputRows({ work, against: titleOf(other) }, figures.ours, figures[other])), ...rows];
}

async function startWorkerd(stage) {
  const args = ["serve", `${peersDirectory}workerd-ok.capnp`, "--control-fd=1"];
  return await startServer(stage, installed("workerd"), args, { readyPattern: /"event":"listen".*?"port":(\d+)/ });
}

async function startProgram(stage, program, args) {
  const env = { PATH: process.env.PATH, HOME: await stage.temporaryDirectory(), DENO_NO_UPDATE_CHECK: "1" };
  return await startServer(stage, installed(program), args, { cwd: peersDirectory, env });
}

function installed(program) {
  const file = peerProgram(program);
  if (file === undefined) throw new Error("no program for this machine is installed");
  return file;
}

function titleOf(other) {
  const program = other.toLowerCase();
  return ["workerd", "bun", "deno"].includes(program) ? `${other} ${versionOf(program)}` : other;
}
