import type { ClientOf } from "../../shared/client.js";
import type { Notified } from "../../shared/contract/instances.js";
import { logs as logsOfWorker } from "../../shared/contract/worker-logs.js";
import { health as healthOperation, type WorkerHealth } from "../../shared/contract/worker-health.js";
import type { Worker } from "../../shared/contract/workers.js";
import type { UploadedFile } from "../platform/uploaded-file.js";
import type { WorkerInstallOptions } from "../packages/worker-packages-options.js";
import { namespacesCover } from "../../shared/namespace.js";
import { fromPathSegments } from "../../shared/package-name.js";
import { mergeHealth } from "../health/merge-health.js";
import { assertNamespace } from "../http/authorization.js";
import { asksOthers, collectResponses } from "../instances/ask-others.js";
import { anyWorker, forwardedQuery, readLogs, type LogsCall, type WorkerLogsPort } from "./logs.js";
import type { StreamingInstances } from "./follow-entries.js";
import type { ResourceHandlers } from "../http/handler.js";
import type { UploadMeter } from "../metrics/upload-meter.js";
import { ApiError } from "../../shared/api-error.js";

/** The functions of worker packages that these handlers use. */
interface WorkerPackagesPort {
  list(): Worker[];
  install(file: UploadedFile, options: WorkerInstallOptions): Promise<{ name: string; version: string; installedAt: string }>;
  setEnabled(name: string, version: string, enabled: boolean): Promise<void>;
  /** Returns the folder of a worker version. Throws if the version is not installed. */
  folderOf(name: string, version: string): string;
  remove(name: string): Promise<void>;
  removeVersion(name: string, version: string): Promise<void>;
}

interface VersionParams {
  readonly scope: string;
  readonly name: string;
  readonly version: string;
}

/** The functions of the worker engine that these handlers use. */
interface WorkerEnginePort {
  restart(folder: string): Promise<number>;
}

/** Sends the signal to restart a worker version to the other daemons. */
interface SignalsPort {
  send(signal: { readonly type: "restart-worker"; readonly name: string; readonly version: string }): Promise<Notified>;
}

/** Computes the states of workers. */
interface WorkerHealthPort {
  read(isWanted: (name: string) => boolean): WorkerHealth[];
}

export function createWorkerHandlers({
  packages,
  engine,
  health,
  logs,
  cronJobs,
  uploads,
  signals,
  instances,
  checksUploads,
}: {
  packages: WorkerPackagesPort;
  engine: WorkerEnginePort;
  health: WorkerHealthPort;
  logs: WorkerLogsPort;
  cronJobs: { forget(name: string): void };
  uploads: UploadMeter;
  /** Undefined without a primary. */
  signals: SignalsPort | undefined;
  instances: StreamingInstances;
  /**
   * True if the daemon loads the code of every upload before the new version becomes active. If false, the daemon loads the code only if
   * the caller requests this check.
   */
  checksUploads: boolean;
}): ResourceHandlers<"workers"> {
  const toggle = async (params: VersionParams, enabled: boolean) => {
    const name = fromPathSegments(params);
    await packages.setEnabled(name, params.version, enabled);
    return { success: true as const, data: { name, version: params.version, enabled } };
  };
  return {
    list: ({ principal: { namespaces } }) => {
      const workers = packages.list();
      // Returns the same frozen object for each list without a filter, because the daemon caches the JSON text of frozen objects.
      return namespaces.includes("*") ? workers : workers.filter(({ name }) => namespacesCover(namespaces, name));
    },
    health: async ({ query: { worker, instance }, principal: { namespaces }, key }) => {
      const isWanted = (name: string) => (worker === undefined || worker === name) && namespacesCover(namespaces, name);
      const readOwn = () => health.read(isWanted);
      if (!asksOthers(instances, instance)) return readOwn();
      const offered = { workers: { health: healthOperation } };
      const call = async ({ workers }: ClientOf<typeof offered>) =>
        (await workers.health({ query: { worker, instance: "self" } })).filter(({ name }) => isWanted(name));
      return mergeHealth(await collectResponses(instances, instance, { request: { key, offered, call }, readOwn }));
    },
    upload: async ({ file, principal, query, via }) => {
      const authorise = (name: string) => assertNamespace(principal, name);
      const installation = { at: Math.floor(Date.now() / 1000), by: principal.name, via };
      const options = {
        authorise,
        installation,
        check: query.check === "true" ? ("request" as const) : checksUploads ? ("load" as const) : undefined,
        isNewOnly: query.newOnly === "true",
        disablesLatest: query.disableLatest === "true",
      };
      const worker = await uploads.count(file, () => packages.install(file, options));
      return { success: true, data: { worker } };
    },
    enable: ({ params }) => toggle(params, true),
    disable: ({ params }) => toggle(params, false),
    restart: async ({ params }) => {
      const { version } = params;
      const name = fromPathSegments(params);
      const restarted = await engine.restart(packages.folderOf(name, version));
      const notified = await signals?.send({ type: "restart-worker", name, version });
      return { success: true, data: { name, version, restarted, ...(notified && { instances: notified }) } };
    },
    remove: async ({ params }) => {
      const name = fromPathSegments(params);
      await packages.remove(name);
      logs.forget(name);
      cronJobs.forget(name);
      return { success: true };
    },
    removeVersion: async ({ params }) => {
      await packages.removeVersion(fromPathSegments(params), params.version);
      return { success: true };
    },
    logs: async ({ params, query, lastEventId, key }) => {
      const name = fromPathSegments(params);
      const { version } = query;
      const forwarded = forwardedQuery(query);
      const call: LogsCall<LogOperations> = {
        selection: [name],
        query,
        lastEventId,
        key,
        offered,
        ask: (client, page) => client.workers.logs({ params, query: { ...forwarded, ...page } }),
        askToFollow: (client, options) => client.workers.logs.follow({ params, query: forwarded }, options),
        assertPresent: async () => {
          const versions = packages.list().flatMap((worker) => (worker.name === name ? worker.versions : []));
          if (versions.length === 0) throw new ApiError("WORKER_NOT_FOUND", `No worker ${name} is installed.`);
          if (version !== undefined && !versions.includes(version) && !(await logs.knows(name, version)))
            throw new ApiError("WORKER_VERSION_NOT_FOUND", `${name} ${version} is not installed and has no log entries.`);
        },
        noticed: { worker: name, version: version ?? anyWorker },
      };
      return readLogs({ logs, instances }, call);
    },
  };
}

const offered = { workers: { logs: logsOfWorker } };
type LogOperations = typeof offered;
