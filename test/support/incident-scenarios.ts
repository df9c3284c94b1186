import { expect } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { connect, uploadOf } from "./connect.js";
import { manifestOf, packFiles } from "./pack-files.js";
import { mountSmallDisk } from "./small-disk.js";
import { startDaemon, type TestDaemon } from "./start-daemon.js";

/** A daemon that has exactly one problem. */
export interface ScenarioDaemon {
  readonly daemon: TestDaemon;
  readonly client: Client;
}

/** A problem of a daemon, and the sentence by which operators recognize its cause. */
export interface IncidentScenario {
  /** Subject of the incident, such as the name of the app. */
  readonly subject: string;
  readonly cause: RegExp;
  /** Starts a daemon with the problem. The caller disposes of it. */
  readonly open: () => Promise<ScenarioDaemon>;
}

const cron = 'cron:\n  - schedule: "0 0 1 1 *"\n    endpoint: /tick\n';
const working = "export default { fetch: () => new Response('works') };\n";
const throwing = "export default { fetch() { throw new TypeError('rows is undefined'); } };\n";
const unloadable = `import "./missing.js";\n${working}`;
const failingTick = "export default { fetch: (request) => new Response('', { status: request.url.endsWith('tick') ? 500 : 200 }) };\n";
const waiting = (ms: number) => `export default { fetch: () => new Promise((done) => setTimeout(done, ${ms}, new Response("works"))) };\n`;

export const scenarios = {
  "returns only 500s": {
    subject: "orders",
    cause: /rows is undefined \(index\.js:1\)/,
    open: async () => {
      const { daemon, client } = await start();
      await deploy(client, "orders", [working, throwing]);
      await load(daemon, { path: "/orders/", clients: 1, requests: 8 });
      return { daemon, client };
    },
  },
  "cannot start": {
    subject: "billing",
    cause: /Cannot find module 'missing\.js'/,
    open: async () => {
      const { daemon, client } = await start();
      await deploy(client, "billing", [working, unloadable]);
      await load(daemon, { path: "/billing/", clients: 1, requests: 1 });
      return { daemon, client };
    },
  },
  "became slow with the last deploy": {
    subject: "search",
    cause: /The p99 latency is \d+ ms since 1\.1\.0; before this version it was \d+ ms\./,
    open: async () => {
      const { daemon, client } = await start();
      await deploy(client, "search", [waiting(20)]);
      // A request that waits for the start of the isolate would decide the p99.
      await load(daemon, { path: "/search/", clients: 1, requests: 1 });
      // Few clients keep the p99 low on a busy machine.
      await load(daemon, { path: "/search/", clients: 10, requests: 15 });
      await deploy(client, "search", [undefined, waiting(1500)]);
      await load(daemon, { path: "/search/", clients: 1, requests: 1 });
      await load(daemon, { path: "/search/", clients: 50, requests: 3 });
      return { daemon, client };
    },
  },
  "has a failing cron job": {
    subject: "report",
    cause: /The cron job 0 0 1 1 \* POST \/tick failed|of requests failed since 1\.1\.0/,
    open: async () => {
      const { daemon, client } = await start();
      await deploy(client, "report", [working, failingTick], cron);
      await client.cron.run({ params: { scope: "_", name: "report", index: "0" } });
      return { daemon, client };
    },
  },
  "has a full disk": {
    subject: "disk-space",
    cause: /A write failed \d+ min ago because no space was left\. \/\S+ has [\d.]+ k?B of 24\.0 MB free\. When it is full, .+\./,
    open: async () => {
      const disk = await mountSmallDisk({ megabytes: 24, names: 2000 });
      const { daemon, client } = await start({ directory: disk.directory, launcher: disk.launcher });
      await deploy(client, "shop", [working, working]);
      await disk.leaveKilobytes(0);
      await expect(deploy(client, "shop", [undefined, undefined, working])).rejects.toMatchObject({ code: "INSUFFICIENT_STORAGE" });
      return { daemon, client };
    },
  },
  "has a plugin with a typo": {
    subject: "lamp",
    cause: /plugin\.js:1:\d+/,
    open: async () => {
      const { daemon, client } = await start();
      const plugin = await packFiles({ "manifest.yaml": manifestOf("lamp", "1.0.0"), "plugin.js": "export default { onRequest( };\n" });
      await client.plugins.upload({ file: uploadOf("lamp.tgz", plugin) });
      return { daemon, client };
    },
  },
  "has a key that expires soon": {
    subject: "ci",
    cause: /The key expires in [45] days/,
    open: async () => {
      const { daemon, client } = await start();
      await client.keys.create({ body: { name: "ci", role: "viewer", expiresIn: "5d" } });
      return { daemon, client };
    },
  },
} as const satisfies Record<string, IncidentScenario>;

async function start(options?: Parameters<typeof startDaemon>[0]): Promise<ScenarioDaemon> {
  const daemon = await startDaemon(options);
  return { daemon, client: connect(daemon.url, daemon.rootKey) };
}

/** Deploys the code of the versions 1.0.0, 1.1.0 and so on in this order. Skips versions without code. */
async function deploy(client: Client, name: string, codes: readonly (string | undefined)[], manifest = ""): Promise<void> {
  for (const [minor, code] of codes.entries()) {
    if (code === undefined) continue;
    const archive = await packFiles({ "manifest.yaml": manifestOf(name, `1.${minor}.0`, manifest), "index.js": code });
    await client.workers.upload({ file: uploadOf("worker.tgz", archive) });
  }
}

/** Sends `requests` requests one after the other from each client. */
async function load(daemon: TestDaemon, { path, clients, requests }: { path: string; clients: number; requests: number }): Promise<void> {
  await Promise.all(
    Array.from({ length: clients }, async () => {
      for (let request = 0; request < requests; request += 1) await (await fetch(daemon.url + path)).arrayBuffer();
    }),
  );
}
