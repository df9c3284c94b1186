import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "./free-port.js";
import { freezeProcess, killProcess } from "./server-process.js";
import type { SmallDisk } from "./small-disk.js";

/** Time limit of a start. A start takes 200 ms, but several seconds on a slow machine. */
const startTimeoutMs = 30_000;

/** A real OCI registry: the program of Debian's package `docker-registry`. */
export interface TestRegistry {
  /** Origin of the registry, which stays the same after a restart. */
  readonly url: string;
  readonly process: () => ChildProcess;
  /** Returns the file that contains a blob. */
  readonly blobFile: (digest: string) => string;
  /** Sends SIGSTOP. The kernel still accepts connections, but no request gets a response. */
  readonly freeze: () => Promise<void>;
  readonly thaw: () => void;
  /** Sends SIGKILL and waits for the exit. */
  readonly kill: () => Promise<void>;
  /** Starts the registry after `kill` with its current data. */
  readonly restart: () => Promise<void>;
  /** Runs the garbage collection of the registry, which deletes blobs without a manifest. */
  readonly collectGarbage: () => Promise<void>;
  readonly dispose: () => Promise<void>;
}

/**
 * Starts a registry on a free port of 127.0.0.1 with its data in a temporary folder. `auth` is a section of its configuration, such as
 * `auth: { htpasswd: … }`. With `disk`, its data is on this disk.
 */
export async function startRegistry({ auth = "", disk }: { auth?: string; disk?: SmallDisk } = {}): Promise<TestRegistry> {
  const program = registryProgram();
  const directory = await mkdtemp(path.join(tmpdir(), "registry-test-"));
  const data = path.join(disk?.folder ?? directory, "data");
  await mkdir(data);
  const configuredData = path.join(disk?.directory ?? directory, "data");
  const address = `127.0.0.1:${await freePort()}`;
  const url = `http://${address}`;
  const file = path.join(directory, "registry.yml");
  const lines = [
    "version: 0.1",
    "log: { level: error, accesslog: { disabled: true } }",
    `storage: { filesystem: { rootdirectory: ${JSON.stringify(configuredData)} }, delete: { enabled: true } }`,
    `http: { addr: ${JSON.stringify(address)} }`,
    auth,
  ];
  await writeFile(file, lines.join("\n"));
  const start = async (): Promise<ChildProcess> => {
    const [command, ...args] = [...(disk?.launcher ?? []), program, "serve", file];
    const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"], env: { OTEL_TRACES_EXPORTER: "none" } });
    let complaint = "";
    child.stderr.on("data", (chunk: Buffer) => (complaint += chunk.toString()));
    const deadline = Date.now() + startTimeoutMs;
    while (!(await responds(url))) {
      if (child.exitCode !== null || Date.now() > deadline) {
        child.kill("SIGKILL");
        throw new Error(`docker-registry did not start (${child.exitCode}): ${complaint}`);
      }
      await delay(20);
    }
    return child;
  };
  let running = await start();
  return {
    url,
    process: () => running,
    blobFile: (digest) => {
      const hex = digest.replace("sha256:", "");
      return path.join(data, "docker/registry/v2/blobs/sha256", hex.slice(0, 2), hex, "data");
    },
    freeze: () => freezeProcess(running),
    thaw: () => void running.kill("SIGCONT"),
    kill: () => killProcess(running),
    restart: async () => {
      running = await start();
    },
    collectGarbage: async () => {
      const child = spawn(program, ["garbage-collect", file], { stdio: "ignore" });
      const [code] = (await once(child, "exit")) as [number];
      if (code !== 0) throw new Error(`docker-registry garbage-collect exited with ${code}`);
    },
    dispose: async () => {
      await killProcess(running);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function registryProgram(): string {
  const folders = (process.env["PATH"] ?? "").split(path.delimiter);
  const candidates = [process.env["DOCKER_REGISTRY"] ?? "", ...folders.map((folder) => path.join(folder, "docker-registry"))];
  const found = candidates.find((candidate) => candidate !== "" && existsSync(candidate));
  if (found === undefined) throw new Error("docker-registry is missing: run apt-get install docker-registry");
  return found;
}

async function responds(url: string): Promise<boolean> {
  try {
    const { status } = await fetch(`${url}/v2/`);
    return status === 200 || status === 401;
  } catch {
    return false;
  }
}
