import { ApiError } from "../../shared/api-error.js";
import type { DataFolder } from "../../shared/contract/data.js";
import { namespacesCover } from "../../shared/namespace.js";
import { fromPathSegments } from "../../shared/package-name.js";
import type { ResourceHandlers } from "../http/handler.js";
import { DirectoryHandle } from "../packages/files/directory-handle.js";
import { zipStream } from "../packages/files/zip-stream.js";

/** Copy of a worker's data folder that a download reads. */
interface DataCopy {
  readonly folder: string;
  remove(): Promise<void>;
}

interface DataHandlersOptions {
  readonly storage: {
    list(): Promise<{ name: string; usage: { bytes: number; entries: number }; isFull: boolean }[]>;
    /** Copies the data folder of a worker. Returns undefined if the worker has no data folder. */
    copy(name: string): Promise<DataCopy | undefined>;
    /** Deletes the data folder of a worker. Returns false if the worker has no data folder. */
    remove(name: string): Promise<boolean>;
  };
  /**
   * Returns the maximum size in bytes of a worker's data folder, from the manifest of the active version. Returns undefined if there is no
   * limit.
   */
  readonly limitOf: (name: string) => number | undefined;
}

export function createDataHandlers({ storage, limitOf }: DataHandlersOptions): ResourceHandlers<"data"> {
  return {
    list: async ({ principal }) => {
      const found = await storage.list();
      return { data: found.filter(({ name }) => namespacesCover(principal.namespaces, name)).map(describe) };
    },
    download: async ({ params }) => {
      const name = fromPathSegments(params);
      const copy = await storage.copy(name);
      if (!copy) throw notFound(name);
      const remove = () => void copy.remove().catch(() => undefined);
      const part = { open: () => DirectoryHandle.open(copy.folder, []), prefix: "", isShown: () => true, maskedName: () => undefined };
      return {
        filename: `${params.name}-data.zip`,
        open: () => zipStream([part]).once("close", remove),
        close: remove,
      };
    },
    remove: async ({ params }) => {
      const name = fromPathSegments(params);
      if (!(await storage.remove(name))) throw notFound(name);
      return { success: true };
    },
  };

  function describe({ name, usage, isFull }: Awaited<ReturnType<DataHandlersOptions["storage"]["list"]>>[number]): DataFolder {
    const limitBytes = limitOf(name);
    // If the daemon cannot measure the folder, the response contains the largest safe integer as its size, because JSON has no infinite
    // number.
    const sizeBytes = Number.isFinite(usage.bytes) ? usage.bytes : Number.MAX_SAFE_INTEGER;
    return { worker: name, sizeBytes, entries: usage.entries, ...(limitBytes !== undefined && { limitBytes }), full: isFull };
  }
}

function notFound(name: string): ApiError {
  return new ApiError("DATA_NOT_FOUND", `The worker ${name} has no data folder.`);
}
