import { readFile } from "node:fs/promises";
import { Agent, setGlobalDispatcher } from "undici";
import { expect, onTestFinished } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { connect } from "../support/connect.js";
import { freePort } from "../support/free-port.js";
import { openListeningSocket } from "../support/listening-socket.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { startRegistry, type TestRegistry } from "../support/start-registry.js";
import { startSqld, type Sqld } from "../support/start-sqld.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { uploadWorker } from "../support/upload-worker.js";
import { startNginxServer, type NginxServer } from "./start-proxy.js";

const certificate = new URL("../fixtures/tls/certificate.pem", import.meta.url);
export const instanceNames = ["A", "B", "C"] as const;
export type InstanceName = (typeof instanceNames)[number];

/** Longest time until each daemon responds with a change, also if one of them is killed and starts again meanwhile. */
const seenTimeoutMs = 30_000;

/** One of the daemons, with directories of its own. */
export interface Instance {
  readonly name: InstanceName;
  /** Contains the state directory and the package directories of this daemon. */
  readonly directory: string;
  readonly url: string;
  readonly client: Client;
  readonly daemon: () => TestDaemon;
  /** Sends SIGKILL to the daemon. If the harness holds the sockets, clients that connect to its address then wait. */
  readonly kill: () => Promise<void>;
  /** Sends SIGTERM, and waits until the daemon has completed its requests and ended. */
  readonly stop: () => Promise<void>;
  /** Starts the daemon again after `kill` or `stop`, with the same state directory and address. */
  readonly start: () => Promise<void>;
}

interface HarnessOptions {
  /** True: the addresses stay open while a daemon is down, as with a socket unit of systemd. False: connections are then refused. */
  readonly holdsSockets?: boolean;
}

/**
 * A cluster of real processes until the test ends: three daemons with directories of their own, one primary of the key store, one registry,
 * and nginx in front.
 */
export class InstanceHarness {
  readonly primary: Sqld;
  readonly registry: TestRegistry;
  readonly nginx: NginxServer;
  readonly instances: readonly Instance[];
  /** Origin of nginx, which sends each request to any of the daemons. */
  readonly url: string;
  /** Calls go through nginx to any instance. */
  readonly client: Client;
  readonly ca: Buffer;

  static async open({ holdsSockets = true }: HarnessOptions = {}): Promise<InstanceHarness> {
    const ca = await readFile(certificate);
    setGlobalDispatcher(new Agent({ connect: { ca } }));
    const [primary, registry] = await Promise.all([startSqld(), startRegistry()]);
    onTestFinished(primary.dispose);
    onTestFinished(registry.dispose);
    const instances: Instance[] = [];
    for (const name of instanceNames) instances.push(await startInstance(name, { primary, registry, holdsSockets }));
    const nginx = await startNginxServer(instances.map((instance) => Number(new URL(instance.url).port)));
    return new InstanceHarness({ primary, registry, nginx, instances, ca });
  }

  private constructor(parts: Pick<InstanceHarness, "primary" | "registry" | "nginx" | "instances" | "ca">) {
    this.primary = parts.primary;
    this.registry = parts.registry;
    this.nginx = parts.nginx;
    this.instances = parts.instances;
    this.url = parts.nginx.url;
    this.ca = parts.ca;
    this.client = connect(this.url, this.instance("A").daemon().rootKey);
  }

  /** Waits until each daemon gives this response at a path. */
  async expectEverywhere(route: string, answer: string): Promise<void> {
    for (const { url, name } of this.instances)
      await expect.poll(() => answerAt(url, route).catch(String), { timeout: seenTimeoutMs, interval: 50, message: name }).toBe(answer);
  }

  instance(name: InstanceName): Instance {
    return this.instances[instanceNames.indexOf(name)] as Instance;
  }
}

interface Engines {
  readonly primary: Sqld;
  readonly registry: TestRegistry;
  readonly holdsSockets: boolean;
}

async function startInstance(name: InstanceName, { primary, registry, holdsSockets }: Engines): Promise<Instance> {
  const directory = await temporaryDirectory();
  const socket = holdsSockets ? openListeningSocket() : undefined;
  if (socket) onTestFinished(socket.close);
  const port = socket?.port ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  const start = () =>
    startDaemon({
      directory,
      ...(socket && { listenFds: [socket.fd] }),
      env: {
        PORT: String(port),
        RUNTIME_INSTANCE_NAME: name,
        RUNTIME_INSTANCE_URL: url,
        RUNTIME_PACKAGE_STORE: `oci:${registry.url}/team/runtimed`,
        RUNTIME_AUTH_DB_MODE: "sync",
        RUNTIME_AUTH_DB_SYNC_URL: primary.url,
      },
    });
  let daemon = await start();
  onTestFinished(() => daemon.kill());
  return {
    name,
    directory,
    url,
    client: connect(url, daemon.rootKey),
    daemon: () => daemon,
    kill: () => daemon.kill(),
    stop: async () => void (await daemon.stop()),
    start: async () => void (daemon = await start()),
  };
}

/** Number of files in the folder `files` of an app by `uploadApp`. */
export const filesPerApp = 20;

/** Installs an app with one version that responds with this text. */
export async function uploadApp(client: Client, name: string, answer: string): Promise<void> {
  const files = {
    "index.js": `export default { fetch: () => new Response(${JSON.stringify(answer)}) };`,
    ...Object.fromEntries(Array.from({ length: filesPerApp }, (_, index) => [`files/${index}.txt`, answer])),
  };
  await uploadWorker(client, name, files);
}

/** Returns the response of an instance or of nginx at a path: its text, or its status if that is not 200. */
export async function answerAt(url: string, route: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(url + route, { headers });
  const text = await response.text();
  return response.status === 200 ? text : String(response.status);
}
