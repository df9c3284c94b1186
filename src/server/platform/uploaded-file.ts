/** An uploaded file of a multipart body. The file is in the spool until the handler returns. */
export interface UploadedFile {
  /** Path of the file in the spool. */
  readonly path: string;
  /** File name that the client sent, without folders. Use only the extension, because clients can choose any name. */
  readonly filename: string;
  /** Number of bytes in the spool at the time of the handler's call. */
  readonly sizeBytes: number;
  /** Returns the SHA-256 of the complete file as hexadecimal text. Undefined if the daemon did not compute it. */
  readonly sha256?: () => string | undefined;
  /** Progress of a large file that is still arriving. Undefined if the file is complete. */
  readonly progress?: UploadProgress;
}

/** Progress of an uploaded file, for handlers that start before the file is complete. */
export interface UploadProgress {
  /**
   * Resolves when the file is complete. If the upload fails, rejects with the error for the client. The handler must then discard the file.
   */
  readonly whole: Promise<void>;
  /** Calls `onGrowth` with the number of bytes in the spool: once immediately, and each time the file grows. */
  follow(onGrowth: (sizeBytes: number) => void): void;
}
