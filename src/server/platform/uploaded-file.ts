/** A file part of a multipart body, stored in the spool until the handler returns. */
export interface UploadedFile {
  /** Path of the spooled file on the server. */
  readonly path: string;
  /** File name from the client, without folders. Use only its extension. */
  readonly filename: string;
  /** Number of spooled bytes when the handler is called. */
  readonly sizeBytes: number;
  /** The rest of a large file. Undefined if the file is complete. */
  readonly arrival?: FileArrival;
}

/** The rest of a file, for handlers that start before the file is complete. */
export interface FileArrival {
  /** Resolves when the file is complete. Rejects with the client's error if the upload is incomplete or rejected: discard the file then. */
  readonly whole: Promise<void>;
  /** Reports the number of spooled bytes, now and while the file grows. */
  follow(onGrowth: (sizeBytes: number) => void): void;
}
