/** Download that a handler of the API returns. The daemon opens the download when it sends the response, and always closes the download. */
export type Download = FileDownload | StreamDownload;

/** Download of a file with known size. Supports range requests and conditional requests. */
export interface FileDownload {
  readonly filename: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  /** Strong ETag, in quotes. */
  readonly etag: string;
  /** Returns the bytes from `start` to `end`, including both. The daemon calls either `open` or `close`. */
  readonly open: (range: { start: number; end: number }) => DownloadBytes;
  /** Closes the file if the daemon has not called `open`. Has no effect after `open`. */
  readonly close: () => void;
}

/** Download whose content is generated while it is sent. */
export interface StreamDownload {
  readonly filename: string;
  readonly open: () => DownloadBytes;
  /** Called in place of `open` if the response has no body. */
  readonly close?: () => void;
}

/**
 * Stream of bytes in the form of a Node.js stream, but without the types of Node.js. The daemon destroys the stream when the client
 * disconnects.
 */
export interface DownloadBytes extends AsyncIterable<Uint8Array> {
  destroy(error?: Error): unknown;
}
