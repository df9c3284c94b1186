import { useApi } from "../../live/use-api.js";
import { fileOperations, type FileApi, type FileKind } from "./file-operations.js";

/** The operations on the files of a kind of package. */
export function useFileApi(kind: FileKind): FileApi {
  return useApi(fileOperations)[kind];
}
