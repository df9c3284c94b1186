/** Download that an API handler returns. The daemon opens the download when it sends the response, and always closes it. */
export type Download = FileDownload | StreamDownload;

/** Download of a file with known size. Supports range requests and conditional requests. */
export interface FileDownload {
  readonly filename: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  /** Strong ETag, in quotes. */
  readonly etag: string;
  /** Returns the bytes from `start` to `end`, both inclusive. The caller calls either `open` or `close`. */
  readonly open: (range: { start: number; end: number }) => DownloadBytes;
  /** Releases the file if `open` was not called. Has no effect after `open`. */
  readonly close: () => void;
}

/** Download whose content is generated while it is sent. */
export interface StreamDownload {
  readonly filename: string;
  readonly open: () => DownloadBytes;
  /** Called instead of `open` for a response without a body. */
  readonly close?: () => void;
}

/** Stream of bytes, like a stream of Node.js but without its types. The daemon destroys it when the client disconnects. */
export interface DownloadBytes extends AsyncIterable<Uint8Array> {
  destroy(error?: Error): unknown;
}
