import { useApi } from "../../live/use-api.js";
import { fileOperations, type FileApi, type FileKind } from "./file-operations.js";

/** Returns the file operations of a kind of package. */
export function useFileApi(kind: FileKind): FileApi {
  return useApi(fileOperations)[kind];
}
