/** The result of a handler whose response is a download. Opened when the response is sent, and always closed. */
export type Download = FileDownload | StreamDownload;

/** A file of known size. Supports range and conditional requests. */
export interface FileDownload {
  readonly filename: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  /** Strong ETag, in quotes. */
  readonly etag: string;
  /** Returns the bytes from `start` to `end`, both inclusive. The caller calls either `open` or `close`. */
  readonly open: (range: { start: number; end: number }) => DownloadBytes;
  /** Has no effect after `open`. */
  readonly close: () => void;
}

/** A download generated while it is sent. */
export interface StreamDownload {
  readonly filename: string;
  readonly open: () => DownloadBytes;
  /** Called instead of `open` for a response without a body. */
  readonly close?: () => void;
}

/** A byte stream like those of Node.js, without its types. Destroyed when the client disconnects. */
export interface DownloadBytes extends AsyncIterable<Uint8Array> {
  destroy(error?: Error): unknown;
}
