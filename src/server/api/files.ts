import { ApiError } from "../../shared/api-error.js";
import type { Download } from "../platform/download.js";
import type { UploadedFile } from "../platform/uploaded-file.js";
import type { FileEntry } from "../../shared/contract/files.js";
import type { Principal } from "../../shared/contract/principal.js";
import type { Permission } from "../../shared/permissions.js";
import { namespacesCover } from "../../shared/namespace.js";
import { assertNamespace } from "../http/authorization.js";
import type { ResourceHandlers } from "../http/handler.js";

/** The permissions of one principal for file operations. */
interface Caller {
  readonly covers: (packageName: string) => boolean;
  readonly assertCovers: (packageName: string) => void;
  /** True if the caller is allowed to see the values of `env` in manifests. */
  readonly seesValues: boolean;
}

/** The functions of package files that these handlers use. */
export interface PackageFilesPort {
  list(path: string, caller: Caller): Promise<{ path: string; entries: FileEntry[]; hasMore?: true }>;
  download(path: string, caller: Caller): Promise<Download>;
  downloadAll(paths: readonly string[], caller: Caller): Promise<Download>;
  readonly writer: {
    makeFolder(path: string, caller: Caller): Promise<void>;
    write(
      folder: string,
      files: readonly UploadedFile[],
      options: { names: readonly string[] | undefined; etags: readonly string[] | undefined; caller: Caller },
    ): Promise<void>;
    rename(path: string, newName: string, caller: Caller): Promise<void>;
    move(path: string, destination: string, caller: Caller): Promise<void>;
    moveInto(path: string, folder: string, caller: Caller): Promise<void>;
    remove(path: string, caller: Caller): Promise<void>;
  };
}

/**
 * Creates the API handlers for the files of workers or plugins. After each change, calls `onChanged`, which puts the change into effect,
 * for example by a reload of plugins. The response waits for `onChanged`.
 */
export function createFileHandlers({
  files,
  permissionToSeeValues,
  onChanged = async () => undefined,
}: {
  files: PackageFilesPort;
  /**
   * Permission to see the values of `env` in manifests. If a key lacks this permission, the response contains `***` in place of each value.
   */
  permissionToSeeValues: Permission;
  onChanged?: () => Promise<unknown>;
}): ResourceHandlers<"workerFiles"> & ResourceHandlers<"pluginFiles"> {
  const { writer } = files;
  const callerOf = (principal: Principal) => fileCallerOf(principal, permissionToSeeValues);
  const changed = async (change: Promise<void>) => {
    await change;
    await onChanged();
    return { success: true as const };
  };
  const each = async (paths: readonly string[], change: (path: string) => Promise<void>) => {
    const errors = await failuresOf(paths, change);
    if (errors.length < paths.length) await onChanged();
    return { success: true as const, ...(errors.length > 0 && { data: { errors } }) };
  };
  return {
    list: async ({ query, principal }) => ({ success: true, data: await files.list(query.path ?? "", callerOf(principal)) }),
    download: ({ query, principal }) => files.download(query.path, callerOf(principal)),
    downloadBatch: ({ query, principal }) => files.downloadAll(query.paths, callerOf(principal)),
    mkdir: ({ body, principal }) => changed(writer.makeFolder(body.path, callerOf(principal))),
    rename: ({ body, principal }) => changed(writer.rename(body.path, body.newName, callerOf(principal))),
    move: ({ body, principal }) => changed(writer.move(body.path, body.destPath, callerOf(principal))),
    moveBatch: ({ body, principal }) => each(body.paths, (path) => writer.moveInto(path, body.destPath, callerOf(principal))),
    upload: ({ fields, files: sent, principal }) =>
      changed(writer.write(fields.path, sent, { names: fields.paths, etags: fields.ifMatch, caller: callerOf(principal) })),
    remove: ({ body, principal }) => changed(writer.remove(body.path, callerOf(principal))),
    removeBatch: ({ body, principal }) => each(body.paths, (path) => writer.remove(path, callerOf(principal))),
  };
}

/** Returns what a principal is allowed to do with files. A principal without `permissionToSeeValues` sees no values of `env`. */
export function fileCallerOf(principal: Principal, permissionToSeeValues: Permission): Caller {
  return {
    covers: (packageName) => namespacesCover(principal.namespaces, packageName),
    assertCovers: (packageName) => assertNamespace(principal, packageName),
    seesValues: principal.permissions.includes(permissionToSeeValues),
  };
}

/** Makes a change for each path, one after another, and continues after a failed change. Returns the failures. */
async function failuresOf(
  paths: readonly string[],
  change: (path: string) => Promise<void>,
): Promise<{ path: string; code: string; message: string }[]> {
  const failures: { path: string; code: string; message: string }[] = [];
  for (const path of paths) {
    try {
      await change(path);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      failures.push({ path, code: error.code, message: error.message });
    }
  }
  return failures;
}
