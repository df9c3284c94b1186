import type { Principal } from "../../shared/contract/principal.js";
import type { Worker } from "../../shared/contract/workers.js";
import type { UploadedFile } from "../../shared/contract/endpoint.js";
import { namespacesCover } from "../../shared/namespace.js";
import { fromPathSegments } from "../../shared/package-name.js";
import { assertNamespace } from "../http/authorise.js";
import type { ResourceHandlers } from "../http/handler.js";

/** What these handlers need of the packages. */
export interface WorkerPackagesPort {
  list(): Worker[];
  install(file: UploadedFile, authorise: (name: string) => void): Promise<{ name: string; version: string; installedAt: string }>;
  setEnabled(name: string, version: string, enabled: boolean): Promise<void>;
  remove(name: string): Promise<void>;
  removeVersion(name: string, version: string): Promise<void>;
}

interface VersionParams {
  readonly scope: string;
  readonly name: string;
  readonly version: string;
}

export function createWorkerHandlers(packages: WorkerPackagesPort): ResourceHandlers<"workers"> {
  const toggle = async (params: VersionParams, enabled: boolean) => {
    const name = fromPathSegments(params);
    await packages.setEnabled(name, params.version, enabled);
    return { success: true as const, data: { name, version: params.version, enabled } };
  };
  return {
    list: ({ principal }) => visibleTo(principal, packages.list()),
    upload: async ({ file, principal }) => {
      const worker = await packages.install(file, (name) => assertNamespace(principal, name));
      return { success: true, data: { worker } };
    },
    enable: ({ params }) => toggle(params, true),
    disable: ({ params }) => toggle(params, false),
    remove: async ({ params }) => {
      await packages.remove(fromPathSegments(params));
      return { success: true };
    },
    removeVersion: async ({ params }) => {
      await packages.removeVersion(fromPathSegments(params), params.version);
      return { success: true };
    },
  };
}

function visibleTo(principal: Principal, workers: Worker[]): Worker[] {
  return principal.namespaces.includes("*") ? workers : workers.filter((worker) => namespacesCover(principal.namespaces, worker.name));
}
