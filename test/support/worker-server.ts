import { chmod, cp, mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import pino from "pino";
import { isHandshake, takeUpgrades } from "../../src/server/http/upgrades.js";
import type { ServedVersion } from "../../src/server/workers/engine/version-handler.js";
import { WorkerLogs } from "../../src/server/workers/logs/worker-logs.js";
import type { KernelLayers } from "../../src/server/workers/sandbox/sandbox-policy.js";
import { WorkerEngine } from "../../src/server/workers/engine/worker-engine.js";
import { WorkerManifest } from "../../src/shared/worker-manifest.js";

export const ourKey = "rtk_0123456789012345678901234567890123456789012";
const fixtures = fileURLToPath(new URL("../fixtures/workers/", import.meta.url));

export interface LogLine {
  level: number;
  msg: string;
  worker?: string;
  source?: string;
  [field: string]: unknown;
}

export interface AddedWorker {
  /** A folder below test/fixtures/workers that is copied. */
  fixture?: string;
  files?: Record<string, string | Buffer>;
  version?: string;
  manifest?: Record<string, unknown>;
  problem?: string;
}

/** A plain HTTP server around a WorkerEngine, with workers that tests add as folders. */
export class WorkerServer {
  readonly engine: WorkerEngine;
  readonly url: string;
  readonly directory: string;
  readonly log: LogLine[];
  /** Output of the workers. */
  readonly logs: WorkerLogs;
  readonly #server: http.Server;
  readonly #versions: Map<string, ServedVersion[]>;
  #generations = 0;

  private constructor(parts: {
    engine: WorkerEngine;
    url: string;
    directory: string;
    log: LogLine[];
    logs: WorkerLogs;
    server: http.Server;
    versions: Map<string, ServedVersion[]>;
  }) {
    this.engine = parts.engine;
    this.url = parts.url;
    this.directory = parts.directory;
    this.log = parts.log;
    this.logs = parts.logs;
    this.#server = parts.server;
    this.#versions = parts.versions;
  }

  static async start(
    options: {
      poolSize?: number;
      maxBodySizeBytes?: number;
      permissions?: string[];
      stallTimeoutMs?: number;
      kernelLayers?: Promise<KernelLayers>;
      compressedFilesDirectory?: string;
    } = {},
  ): Promise<WorkerServer> {
    const directory = await mkdtemp(path.join(tmpdir(), "workers-"));
    // If root runs the tests, isolates run as other users, which must be able to enter this folder.
    await chmod(directory, 0o711);
    const log: LogLine[] = [];
    const versions = new Map<string, ServedVersion[]>();
    const logs = new WorkerLogs({ bytesPerWorker: 1024 * 1024, totalBytes: 16 * 1024 * 1024, now: Date.now });
    const engine = new WorkerEngine({
      // Makes the version that was added last the active version, as after an upload.
      resolve: (name, range) => versions.get(name)?.findLast((version) => range === undefined || version.version === range),
      isInstalled: (name, version) => versions.get(name)?.some((known) => version === undefined || known.version === version) ?? false,
      limits: {
        poolSize: options.poolSize ?? 20,
        maxBodySizeBytes: options.maxBodySizeBytes ?? 300 * 1024 * 1024,
        workerMemoryMaxBytes: 512 * 1024 * 1024,
        sharedStreamRateBytes: 128 * 1024 * 1024,
        workerDataMaxBytes: 1024 * 1024 * 1024,
        workerTemporaryMaxBytes: 64 * 1024 * 1024,
      },
      slotsDirectory: path.join(directory, ".slots"),
      dataDirectory: path.join(directory, ".data"),
      compressedFilesDirectory: options.compressedFilesDirectory ?? path.join(directory, ".compressed-files"),
      ownUsers: {
        uids: { first: 1_900_100_000, last: 1_900_109_999 },
        daemon: directory,
        slots: { slotsDirectory: path.join(directory, ".slots") },
        appDirectories: [],
      },
      ...(options.permissions ? { permissions: options.permissions } : {}),
      ...(options.stallTimeoutMs === undefined ? {} : { stallTimeoutMs: options.stallTimeoutMs }),
      ...(options.kernelLayers === undefined ? {} : { kernelLayers: options.kernelLayers }),
      isOurKey: (token) => token === ourKey,
      logs,
      log: pino({ level: "debug" }, { write: (line: string) => void log.push(JSON.parse(line) as LogLine) }),
    });
    let requests = 0;
    const server = http.createServer({ shouldUpgradeCallback: isHandshake }, (request, response) => {
      requests += 1;
      engine.handle({ request, response, requestId: `request-${requests}` });
    });
    takeUpgrades(server, {
      stalledClientTimeoutMs: 60_000,
      handle: (request, response, connection) => {
        requests += 1;
        engine.handle({ request, response, requestId: `request-${requests}`, connection });
      },
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return new WorkerServer({ engine, url, directory, log, logs, server, versions });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async add(name: string, worker: AddedWorker): Promise<ServedVersion> {
    const version = worker.version ?? "latest";
    const folder = path.join(this.directory, "installed", name, `${version}-${this.#generations}`);
    await mkdir(folder, { recursive: true });
    if (worker.fixture) await cp(path.join(fixtures, worker.fixture), folder, { recursive: true });
    for (const [file, content] of Object.entries(worker.files ?? {})) {
      await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
      await writeFile(path.join(folder, file), content);
    }
    return this.serve(name, { folder, version, manifest: worker.manifest ?? {}, ...(worker.problem ? { problem: worker.problem } : {}) });
  }

  /** Makes a folder the active version of a name. */
  serve(name: string, parts: { folder: string; version: string; manifest: Record<string, unknown>; problem?: string }): ServedVersion {
    this.#generations += 1;
    const served: ServedVersion = {
      name,
      version: parts.version,
      folder: parts.folder,
      generation: String(this.#generations),
      manifest: WorkerManifest.parse(parts.manifest),
      ...(parts.problem ? { problem: parts.problem } : {}),
    };
    const others = (this.#versions.get(name) ?? []).filter((other) => other.version !== parts.version);
    this.#versions.set(name, [...others, served]);
    return served;
  }

  remove(name: string): void {
    this.#versions.delete(name);
  }

  fetch(target: string, init?: RequestInit): Promise<Response> {
    return fetch(this.url + target, init);
  }

  async text(target: string, init?: RequestInit): Promise<string> {
    return (await this.fetch(target, init)).text();
  }

  /** Returns status and error code of a rejection. */
  async refusal(target: string, init?: RequestInit): Promise<{ status: number; code: string; message: string; retryAfter: string | null }> {
    const response = await this.fetch(target, init);
    const body = (await response.json()) as { error: { code: string; message: string } };
    return { status: response.status, code: body.error.code, message: body.error.message, retryAfter: response.headers.get("retry-after") };
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeIdleConnections();
    await this.engine.close();
    this.#server.closeAllConnections();
    await rm(this.directory, { recursive: true, force: true });
  }
}
