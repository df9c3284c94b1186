import * as z from "zod";
import type { ErrorCode } from "../errors.js";
import { endpoint } from "./endpoint.js";
import { Success, successOf } from "./success.js";

/** Paths in one call, and files in one upload. */
export const mostPaths = 1000;

const path = z.string().min(1, "must not be empty").describe("`<mount>/<path below it>`");
/** In a query or a form one of them comes as a text, several as a list. */
const listed = z
  .union([z.string(), z.array(z.string()).min(1).max(mostPaths)])
  .transform((texts) => (typeof texts === "string" ? [texts] : texts));
const paths = z.array(path).min(1).max(mostPaths);

const FileEntry = z.object({
  name: z.string(),
  path: z.string(),
  isDirectory: z.boolean().describe("False for links too, which are shown and never followed"),
  size: z.int().min(0).describe("Bytes; 0 for folders"),
  updatedAt: z.int().describe("Unix seconds"),
});
export type FileEntry = z.output<typeof FileEntry>;

const FileList = successOf(
  z.object({
    path: z.string(),
    entries: z.array(FileEntry).describe("Folders first, then by name"),
    hasMore: z.literal(true).optional().describe("The folder has more entries than are listed"),
  }),
);

const FileErrors = successOf(z.object({ errors: z.array(z.object({ path: z.string(), code: z.string(), message: z.string() })) }));
const BatchOutcome = z.union([FileErrors, Success]).describe("`data` tells of those that failed, if any did; the others are done");

const readErrors = ["NAMESPACE_DENIED", "PATH_TRAVERSAL", "PATH_NOT_FOUND", "FILES_UNAVAILABLE"] as const satisfies readonly ErrorCode[];
const writeErrors = [
  ...readErrors,
  "PATH_NOT_WRITABLE",
  "PATH_EXISTS",
  "INVALID_PACKAGE_NAME",
  "INVALID_PACKAGE_METADATA",
  "BASE_TAKEN",
  "INSUFFICIENT_STORAGE",
] as const satisfies readonly ErrorCode[];
const pathRequired = { path: "PATH_REQUIRED" } as const;
const pathsRequired = { paths: "PATH_REQUIRED" } as const;
const movedPathRequired = { ...pathRequired, destPath: "PATH_REQUIRED" } as const;
const movedPathsRequired = { ...pathsRequired, destPath: "PATH_REQUIRED" } as const;

/** The files below the directories of one kind of package. */
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
      summary: `List a folder of the ${what} directories; without a path, the directories themselves`,
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
      summary: `Make a folder in a ${what}, and those above it`,
      body: z.object({ path }),
      inputErrors: pathRequired,
      result: Success,
    }),
    rename: endpoint({
      ...install,
      path: `/${kind}/files/rename`,
      summary: `Give a file or folder of a ${what} another name`,
      body: z.object({ path, newName: z.string().min(1) }),
      inputErrors: pathRequired,
      result: Success,
    }),
    move: endpoint({
      ...install,
      path: `/${kind}/files/move`,
      summary: `Move a file or folder of a ${what} into a folder that is there, or to a path where nothing is`,
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
      summary: `Write files into a folder of a ${what}, in place of those of the same name`,
      form: {
        files: "files",
        fields: z.object({
          path,
          paths: listed.optional().describe("Names below the folder, one for each file"),
          ifMatch: listed
            .optional()
            .describe("ETags as downloads have them, one for each file: nothing is written when a file has another one now"),
        }),
      },
      inputErrors: pathRequired,
      result: Success,
      errors: [...writeErrors, "PRECONDITION_FAILED"],
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
