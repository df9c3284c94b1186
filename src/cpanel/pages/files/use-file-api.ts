import { useApi } from "../../live/use-api.js";
import { fileOperations, type FileApi, type FileKind } from "./file-operations.js";

/** Returns the typed client for the file operations on workers or on plugins. */
export function useFileApi(kind: FileKind): FileApi {
  return useApi(fileOperations)[kind];
}
