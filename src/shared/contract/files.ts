import * as z from "zod";
import { editErrors } from "./archive-errors.js";
import type { ErrorCode } from "../errors.js";
import { endpoint } from "./endpoint.js";
import { Success, successOf } from "./success.js";

/** Maximum number of paths in one request, and maximum number of files in one upload. The daemon rejects larger requests. */
export const mostPaths = 1000;

const path = z.string().min(1, "must not be empty").describe("`<mount>/<path below it>`");
/** Accepts a string or a list of strings, because clients send one value of a query or form as a string and several values as a list. */
const listed = z
  .union([z.string(), z.array(z.string()).min(1).max(mostPaths)])
  .transform((texts) => (typeof texts === "string" ? [texts] : texts));
const paths = z.array(path).min(1).max(mostPaths);

const FileEntry = z.object({
  name: z.string(),
  path: z.string(),
  isDirectory: z.boolean().describe("Also false for symbolic links, which are listed but not followed"),
  size: z.int().min(0).describe("Bytes; 0 for folders"),
  updatedAt: z.int().describe("Unix seconds"),
});
export type FileEntry = z.output<typeof FileEntry>;

const FileList = successOf(
  z.object({
    path: z.string(),
    entries: z.array(FileEntry).describe("Folders first, then by name"),
    hasMore: z.literal(true).optional().describe("Present if the folder has more entries than are listed"),
  }),
);

const FileErrors = successOf(z.object({ errors: z.array(z.object({ path: z.string(), code: z.string(), message: z.string() })) }));
const BatchOutcome = z.union([FileErrors, Success]).describe("`data` lists failed paths, if any; the operation succeeded for all others");

const readErrors = [
  "NAMESPACE_DENIED",
  "PATH_TRAVERSAL",
  "PATH_NOT_FOUND",
  "FILES_UNAVAILABLE",
  "PACKAGE_UNAVAILABLE",
] as const satisfies readonly ErrorCode[];
const writeErrors = [
  ...readErrors,
  "PATH_NOT_WRITABLE",
  "PATH_EXISTS",
  "INVALID_PACKAGE_NAME",
  "INVALID_PACKAGE_METADATA",
  "BASE_TAKEN",
  "SECRET_MISSING",
  "INSUFFICIENT_STORAGE",
  ...editErrors,
] as const satisfies readonly ErrorCode[];
const pathRequired = { path: "PATH_REQUIRED" } as const;
const pathsRequired = { paths: "PATH_REQUIRED" } as const;
const movedPathRequired = { ...pathRequired, destPath: "PATH_REQUIRED" } as const;
const movedPathsRequired = { ...pathsRequired, destPath: "PATH_REQUIRED" } as const;

/** Returns the definitions of the file operations, either for the files of workers or for the files of plugins. */
function filesOf<const Kind extends "workers" | "plugins">(kind: Kind, what: string) {
  const read = { access: `${kind}:read`, status: 200 } as const;
  const change = kind === "workers" ? ("worker.files-changed" as const) : ("plugin.files-changed" as const);
  const changesPlugin = kind === "plugins";
  const install = { change, changesPlugin, method: "POST", access: `${kind}:install`, status: 200, errors: writeErrors } as const;
  const remove = { change, changesPlugin, access: `${kind}:remove`, status: 200, errors: writeErrors } as const;
  return {
    list: endpoint({
      ...read,
      method: "GET",
      path: `/${kind}/files/list`,
      summary: `List a folder in the ${what} directories; without a path, list the directories`,
      query: z.object({ path: z.string().optional() }),
      result: FileList,
      errors: readErrors,
    }),
    download: endpoint({
      ...read,
      method: "GET",
      path: `/${kind}/files/download`,
      summary: `Download a file of the ${what} directories, or a folder as a zip`,
      query: z.object({ path }),
      inputErrors: pathRequired,
      download: "The file, or the folder as a zip",
      errors: readErrors,
    }),
    downloadBatch: endpoint({
      ...read,
      method: "GET",
      path: `/${kind}/files/download-batch`,
      summary: `Download files and folders of the ${what} directories as one zip`,
      query: z.object({ paths: listed }),
      inputErrors: pathsRequired,
      download: "A zip",
      errors: readErrors,
    }),
    mkdir: endpoint({
      ...install,
      path: `/${kind}/files/mkdir`,
      summary: `Create a folder in a ${what}, including missing parent folders`,
      body: z.object({ path }),
      inputErrors: pathRequired,
      result: Success,
    }),
    rename: endpoint({
      ...install,
      path: `/${kind}/files/rename`,
      summary: `Rename a file or folder of a ${what}`,
      body: z.object({ path, newName: z.string().min(1) }),
      inputErrors: pathRequired,
      result: Success,
    }),
    move: endpoint({
      ...install,
      path: `/${kind}/files/move`,
      summary: `Move a file or folder of a ${what} into an existing folder or to an unused path`,
      body: z.object({ path, destPath: path }),
      inputErrors: movedPathRequired,
      result: Success,
    }),
    moveBatch: endpoint({
      ...install,
      path: `/${kind}/files/move-batch`,
      summary: `Move files and folders of a ${what} into a folder`,
      body: z.object({ paths, destPath: path }),
      inputErrors: movedPathsRequired,
      result: BatchOutcome,
    }),
    upload: endpoint({
      ...install,
      path: `/${kind}/files/upload`,
      summary: `Upload files to a folder of a ${what}, replacing files with the same name`,
      form: {
        files: "files",
        fields: z.object({
          path,
          paths: listed.optional().describe("Paths relative to the folder, one per file"),
          ifMatch: listed.optional().describe("ETags of earlier downloads, one per file: if a file has changed since, nothing is written"),
        }),
      },
      inputErrors: pathRequired,
      result: Success,
    }),
    remove: endpoint({
      ...remove,
      method: "DELETE",
      path: `/${kind}/files/delete`,
      summary: `Delete a file or folder of a ${what}`,
      body: z.object({ path }),
      inputErrors: pathRequired,
      result: Success,
    }),
    removeBatch: endpoint({
      ...remove,
      method: "POST",
      path: `/${kind}/files/delete-batch`,
      summary: `Delete files and folders of a ${what}`,
      body: z.object({ paths }),
      inputErrors: pathsRequired,
      result: BatchOutcome,
    }),
  };
}

export const workerFiles = filesOf("workers", "worker");
export const pluginFiles = filesOf("plugins", "plugin");
