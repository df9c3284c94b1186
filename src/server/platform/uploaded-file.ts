/** An uploaded file in a multipart body, stored in the spool until the handler returns. */
export interface UploadedFile {
  /** Path of the file in the spool. */
  readonly path: string;
  /** File name from the client, without folders. Use only its extension, because clients choose the name. */
  readonly filename: string;
  /** Number of bytes in the spool when the handler is called. */
  readonly sizeBytes: number;
  /** Progress of a large file that is still arriving. Undefined if the file is complete. */
  readonly arrival?: FileArrival;
}

/** Progress of an uploaded file, for handlers that start before the file is complete. */
export interface FileArrival {
  /**
   * Resolves when the file is complete. Rejects with the client's error if the upload is incomplete or rejected. The caller must then
   * discard the file.
   */
  readonly whole: Promise<void>;
  /** Calls `onGrowth` with the number of bytes in the spool, now and while the file grows. */
  follow(onGrowth: (sizeBytes: number) => void): void;
}
