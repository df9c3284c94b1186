import { offenders } from "../soak/offenders.mjs";
import { startDaemon } from "../support/daemon.mjs";
import { startPeer } from "../support/server.mjs";
import { workerOf } from "../support/worker-source.mjs";
import { AppProcess } from "./app-processes.mjs";

/** A worker that crashes again and again is left alone for a while; of each there are so many. */
export const copies = 2;
/** Of a request, on both sides. */
export const timeoutMs = 500;

const kinds = Object.entries(offenders());
export const faults = kinds.map(([name]) => name);
/** Others keep the usual memory, and so the isolates that stand by for it. */
const isAboutMemory = (name) => /push|fills|map|buffers|memory/.test(name);

/** `neighbour` is a URL; `open(name)` has the copies of a bad app running and answers with `{ url(copy), kill(copy), close() }`. */
export async function startOurs(stage) {
  const workers = { neighbour: await workerOf("ok.js") };
  for (const [name, { files, manifest }] of kinds) {
    const { memory, ...rest } = { ...manifest, timeout: `${timeoutMs}ms` };
    for (let copy = 0; copy < copies; copy += 1)
      workers[`${name}-${copy}`] = { files, manifest: isAboutMemory(name) ? { ...rest, memory } : rest };
  }
  const { url } = await startDaemon(stage, { workers });
  return {
    neighbour: `${url}/neighbour/`,
    open: async (name) => ({ url: (copy) => `${url}/${name}-${copy}`, kill: () => undefined, close: () => undefined }),
  };
}

export async function startTheirs(stage) {
  const { url } = await startPeer(stage, "raw-http.mjs", "ok");
  const directory = await stage.temporaryDirectory();
  const sources = Object.fromEntries(kinds.map(([name, { files }]) => [name, files["index.js"]]));
  return {
    neighbour: `${url}/`,
    open: async (name) => {
      const apps = await Promise.all(
        Array.from({ length: copies }, () => AppProcess.start(stage, { directory, name, source: sources[name] })),
      );
      return {
        url: (copy) => apps[copy].url,
        kill: (copy) => apps[copy].kill(),
        close: () => apps.forEach((app) => app.end()),
      };
    },
  };
}
