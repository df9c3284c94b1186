import { readFile } from "node:fs/promises";
import path from "node:path";
import { Agent, setGlobalDispatcher } from "undici";
import { onTestFinished } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { connect, uploadOf } from "../support/connect.js";
import { openListeningSocket } from "../support/listening-socket.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { startSqld, type Sqld } from "../support/start-sqld.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { startNginx } from "./start-proxy.js";

const certificate = new URL("../fixtures/tls/certificate.pem", import.meta.url);
export const instanceNames = ["A", "B", "C"] as const;
export type InstanceName = (typeof instanceNames)[number];

/** One of the daemons. Its address stays open after the daemon ends, as with a socket unit of systemd. */
export interface Instance {
  readonly name: InstanceName;
  readonly url: string;
  readonly client: Client;
  readonly daemon: () => TestDaemon;
  /** Sends SIGKILL to the daemon. Clients that connect to its address then wait. */
  readonly kill: () => Promise<void>;
  /** Starts the daemon again after `kill`, with the same state directory and address. */
  readonly start: () => Promise<void>;
}

/**
 * A cluster of real processes until the test ends: three daemons, one primary of the key store, shared workers and plugins, and nginx in
 * front.
 */
export class InstanceHarness {
  readonly primary: Sqld;
  readonly instances: readonly Instance[];
  /** Origin of nginx, which sends each request to any of the daemons. */
  readonly url: string;
  /** Calls go through nginx to any instance. */
  readonly client: Client;
  readonly ca: Buffer;
  /** Has `workers` and `plugins` of all instances. */
  readonly sharedDirectory: string;

  static async open(): Promise<InstanceHarness> {
    const ca = await readFile(certificate);
    setGlobalDispatcher(new Agent({ connect: { ca } }));
    const primary = await startSqld();
    onTestFinished(primary.dispose);
    const sharedDirectory = await temporaryDirectory();
    const instances: Instance[] = [];
    for (const name of instanceNames) instances.push(await startInstance(name, { sharedDirectory, primary }));
    const url = await startNginx(instances.map((instance) => Number(new URL(instance.url).port)));
    return new InstanceHarness({ primary, instances, url, ca, sharedDirectory });
  }

  private constructor(parts: { primary: Sqld; instances: readonly Instance[]; url: string; ca: Buffer; sharedDirectory: string }) {
    this.primary = parts.primary;
    this.instances = parts.instances;
    this.url = parts.url;
    this.ca = parts.ca;
    this.sharedDirectory = parts.sharedDirectory;
    this.client = connect(this.url, this.instance("A").daemon().rootKey);
  }

  instance(name: InstanceName): Instance {
    return this.instances[instanceNames.indexOf(name)] as Instance;
  }
}

async function startInstance(
  name: InstanceName,
  { sharedDirectory, primary }: { sharedDirectory: string; primary: Sqld },
): Promise<Instance> {
  const directory = await temporaryDirectory();
  const socket = openListeningSocket();
  onTestFinished(socket.close);
  const start = () =>
    startDaemon({
      directory,
      listenFds: [socket.fd],
      env: {
        RUNTIME_WORKER_DIRS: path.join(sharedDirectory, "workers"),
        RUNTIME_PLUGIN_DIRS: path.join(sharedDirectory, "plugins"),
        RUNTIME_AUTH_DB_MODE: "sync",
        RUNTIME_AUTH_DB_SYNC_URL: primary.url,
      },
    });
  let daemon = await start();
  onTestFinished(() => daemon.kill());
  const { url, rootKey } = daemon;
  return {
    name,
    url,
    client: connect(url, rootKey),
    daemon: () => daemon,
    kill: () => daemon.kill(),
    start: async () => void (daemon = await start()),
  };
}

/** Number of files in the folder `files` of an app by `uploadApp`. */
export const filesPerApp = 20;

/** Installs an app with one version that responds with this text. */
export async function uploadApp(client: Client, name: string, answer: string): Promise<void> {
  const files = {
    "manifest.yaml": manifestOf(name, "1.0.0"),
    "index.js": `export default { fetch: () => new Response(${JSON.stringify(answer)}) };`,
    ...Object.fromEntries(Array.from({ length: filesPerApp }, (_, index) => [`files/${index}.txt`, answer])),
  };
  await client.workers.upload({ file: uploadOf("app.tgz", await packFiles(files)) });
}

/** Returns the response of an instance or of nginx at a path: its text, or its status if that is not 200. */
export async function answerAt(url: string, route: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(url + route, { headers });
  const text = await response.text();
  return response.status === 200 ? text : String(response.status);
}
