import { writeFile } from "node:fs/promises";
import path from "node:path";
import { createBadClients } from "../soak/bad-clients.mjs";
import { offenders } from "../soak/offenders.mjs";
import { createOperations } from "../soak/operations.mjs";
import { startDaemon } from "../support/daemon.mjs";
import { startPeer } from "../support/server.mjs";
import { workerOf } from "../support/worker-source.mjs";
import { AppProcess } from "./app-process.mjs";
import { badApp, copies, timeoutMs } from "./bad-app.mjs";
import { createOperationsByHand } from "./by-hand.mjs";

const kinds = Object.entries(offenders());
const badClients = ["abort 100 requests", "read a byte at a time", "send a byte at a time", "send a body without end"];
const operations = ["replace", "disable and enable", "delete and upload"];
/** Faults that can occur any number of times, because the daemon does not delay the restart after these faults. */
export const repeatable = [...badClients, ...operations];
const askEveryMs = 10;
/** These faults use the memory limit of their manifest. All other faults use the default limit, which permits standby isolates. */
const isAboutMemory = (name) => /push|fills|map|buffers|memory/.test(name);

/**
 * Starts the daemon. Returns the URL of `neighbour`, `urlOf(name)` of other workers, and `faults[title]()`, which resolves with `{
 * strike(turn), close() }`. `strike` resolves at the end of the fault.
 */
export async function startOurs(stage) {
  const workers = {
    neighbour: await workerOf("ok.js"),
    changing: await workerOf("ok.js"),
    echo: await workerOf("echo.js"),
    html: await workerOf("html.js", { modules: ["payload.js"] }),
    json: await workerOf("json.js", { modules: ["payload.js"] }),
  };
  for (const [name, { files, manifest }] of kinds) {
    const { memory, ...rest } = { ...manifest, timeout: `${timeoutMs}ms` };
    workers[name] = { files, manifest: rest };
    for (let copy = 0; copy < copies; copy += 1)
      workers[`${name}-${copy}`] = { files, manifest: isAboutMemory(name) ? { ...rest, memory } : rest };
  }
  const daemon = await startDaemon(stage, { workers });
  const urlOf = (worker) => `${daemon.url}/${worker}/`;
  const open = (name) => badApp({ url: (copy) => `${daemon.url}/${name}-${copy}`, kill: () => undefined, close: () => undefined });
  const actions = await createOperations(daemon, await stage.temporaryDirectory());
  return {
    neighbour: urlOf("neighbour"),
    urlOf,
    faults: {
      ...appFaults(open),
      ...clientFaults(urlOf),
      ...operationFaults(actions, () => urlOf("changing")),
    },
  };
}

export async function startTheirs(stage) {
  const { url } = await startPeer(stage, "raw-http.mjs", "ok");
  const directory = await stage.temporaryDirectory();
  const fileOf = (name) => path.join(directory, `${name}.mjs`);
  for (const [name, { files }] of kinds) await writeFile(fileOf(name), files["index.js"]);
  const open = async (name) => {
    const apps = await Promise.all(Array.from({ length: copies }, () => AppProcess.start(stage, fileOf(name))));
    return await badApp({
      url: (copy) => apps[copy].url,
      kill: (copy) => apps[copy].kill(),
      close: () => apps.forEach((app) => app.end()),
    });
  };
  // Workers that receive requests of the bad clients. No fault ends them, so nothing starts them again.
  const victims = {
    echo: await startPeer(stage, "raw-http.mjs", "echo"),
    html: await startPeer(stage, "raw-http.mjs", "html"),
    json: await startPeer(stage, "raw-http.mjs", "json"),
    "never-answers": await startPeer(stage, "app-process.mjs", fileOf("never-answers")),
    "never-reads": await startPeer(stage, "app-process.mjs", fileOf("never-reads")),
  };
  const urlOf = (name) => `${victims[name].url}/`;
  const byHand = await createOperationsByHand(stage, directory);
  return {
    neighbour: `${url}/`,
    urlOf,
    faults: {
      ...appFaults(open),
      ...clientFaults(urlOf),
      ...operationFaults(byHand.operations, byHand.url),
    },
  };
}

function appFaults(open) {
  return Object.fromEntries(kinds.map(([name]) => [name, () => open(name)]));
}

function clientFaults(urlOf) {
  const clients = createBadClients(urlOf);
  return Object.fromEntries(badClients.map((title) => [title, async () => ({ strike: clients[title], close: () => undefined })]));
}

function operationFaults(actions, url) {
  return Object.fromEntries(operations.map((title) => [title, async () => amidRequests(actions[title], url)]));
}

/** Performs an operation on a worker that receives requests during the operation. Accepts every response. */
function amidRequests(action, url) {
  const ask = async () => void (await (await fetch(url())).text());
  return {
    async strike() {
      const asking = setInterval(() => void ask().catch(() => undefined), askEveryMs);
      try {
        await action();
      } finally {
        clearInterval(asking);
      }
    },
    close: () => undefined,
  };
}
