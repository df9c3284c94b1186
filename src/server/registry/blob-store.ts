import type { Digest, ExpectedBlob } from "./verified-download.js";

/** Archives by digest. All functions throw RegistryError. */
export interface BlobStore {
  has(digest: Digest): Promise<boolean>;
  /** Stores a file unless the store has it. */
  put(blob: ExpectedBlob & { readonly file: string; readonly mediaType: string }): Promise<void>;
  /** Writes a blob to the new file `into`, and compares size and digest. Deletes the file after an error. */
  get(blob: ExpectedBlob, into: string): Promise<void>;
  /** Deletes a blob. Returns "unsupported" if the store does not delete blobs. */
  remove(digest: Digest): Promise<"removed" | "unsupported">;
  close(): Promise<void>;
}
