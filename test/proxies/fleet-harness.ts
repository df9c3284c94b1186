import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { Agent, setGlobalDispatcher } from "undici";
import { onTestFinished } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { connect } from "../support/connect.js";
import { freePort } from "../support/free-port.js";
import { openListeningSocket } from "../support/listening-socket.js";
import { startDaemon } from "../support/start-daemon.js";
import { startRegistry, type TestRegistry } from "../support/start-registry.js";
import { startSqld, type Sqld } from "../support/start-sqld.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { instanceNames, type Instance, type InstanceName } from "./instance-harness.js";
import { startNginxServer, type NginxServer } from "./start-proxy.js";

const certificate = new URL("../fixtures/tls/certificate.pem", import.meta.url);

/** A daemon with its own directories. */
export interface FleetInstance extends Instance {
  readonly workersDirectory: string;
  /** Sends SIGTERM, and waits until the daemon has completed its requests and ended. */
  readonly stop: () => Promise<void>;
}

interface FleetOptions {
  /** True: the addresses stay open while a daemon is down, as with a socket unit of systemd. False: connections are then refused. */
  readonly holdsSockets?: boolean;
  readonly variables?: Readonly<Record<string, string>>;
}

/**
 * A fleet of real processes until the test ends: three daemons with separate directories, one libSQL primary, one OCI registry, and nginx
 * in front. All use the intervals of production.
 */
export class FleetHarness {
  readonly primary: Sqld;
  readonly registry: TestRegistry;
  readonly instances: readonly FleetInstance[];
  readonly nginx: NginxServer;
  /** Origin of nginx, which sends each request to any of the daemons. */
  readonly url: string;
  /** Calls go through nginx to any daemon. */
  readonly client: Client;
  readonly ca: Buffer;

  static async open({ holdsSockets = true, variables = {} }: FleetOptions = {}): Promise<FleetHarness> {
    const ca = await readFile(certificate);
    setGlobalDispatcher(new Agent({ connect: { ca } }));
    const [primary, registry] = await Promise.all([startSqld(), startRegistry()]);
    onTestFinished(primary.dispose);
    onTestFinished(registry.dispose);
    const shared = {
      RUNTIME_AUTH_DB_MODE: "sync",
      RUNTIME_AUTH_DB_SYNC_URL: primary.url,
      RUNTIME_PACKAGE_STORE: `oci:${registry.url}/team/runtimed`,
      ...variables,
    };
    const instances: FleetInstance[] = [];
    for (const name of instanceNames) instances.push(await startInstance(name, { holdsSocket: holdsSockets, variables: shared }));
    const nginx = await startNginxServer(instances.map(({ url }) => Number(new URL(url).port)));
    return new FleetHarness({ primary, registry, instances, nginx, ca });
  }

  private constructor(parts: Pick<FleetHarness, "primary" | "registry" | "instances" | "nginx" | "ca">) {
    this.primary = parts.primary;
    this.registry = parts.registry;
    this.instances = parts.instances;
    this.nginx = parts.nginx;
    this.ca = parts.ca;
    this.url = parts.nginx.url;
    this.client = connect(this.url, this.instance("A").daemon().rootKey);
  }

  instance(name: InstanceName): FleetInstance {
    return this.instances[instanceNames.indexOf(name)] as FleetInstance;
  }
}

async function startInstance(
  name: InstanceName,
  { holdsSocket, variables }: { holdsSocket: boolean; variables: Readonly<Record<string, string>> },
): Promise<FleetInstance> {
  const directory = await temporaryDirectory();
  const workersDirectory = path.join(directory, "workers");
  for (const folder of [workersDirectory, path.join(directory, "plugins")]) await mkdir(folder);
  const socket = holdsSocket ? openListeningSocket() : undefined;
  if (socket) onTestFinished(socket.close);
  const port = socket?.port ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  const start = () =>
    startDaemon({
      directory,
      ...(socket && { listenFds: [socket.fd] }),
      env: { PORT: String(port), RUNTIME_INSTANCE_NAME: name, RUNTIME_INSTANCE_URL: url, ...variables },
    });
  let daemon = await start();
  onTestFinished(() => daemon.kill());
  return {
    name,
    url,
    workersDirectory,
    client: connect(url, daemon.rootKey),
    daemon: () => daemon,
    kill: () => daemon.kill(),
    stop: async () => void (await daemon.stop()),
    start: async () => void (daemon = await start()),
  };
}
