import { pipeline, type Readable } from "node:stream";
import type { Context } from "koa";
import type { Download, DownloadBytes, FileDownload, StreamDownload } from "../platform/download.js";
import { isUnchanged, requestedRange } from "../web/conditional.js";

/**
 * Sends a file, a range of the file, or 304. The headers prevent a browser from rendering the file as a page of the daemon. If the client
 * disconnects, closes the source. If the source fails, closes the connection.
 */
export function sendDownload(context: Context, download: Download): void {
  context.status = 200;
  context.set("Content-Type", "application/octet-stream");
  context.set("Content-Disposition", attachmentNamed(download.filename));
  context.set("Content-Security-Policy", "sandbox; default-src 'none'");
  const bytes = "sizeBytes" in download ? openFile(context, download) : openStream(context, download);
  context.respond = false;
  if (!bytes) {
    context.res.end();
    return;
  }
  pipeline(bytes as DownloadBytes & Readable, context.res, () => undefined);
}

function openStream(context: Context, download: StreamDownload): DownloadBytes | undefined {
  if (context.method !== "HEAD") return download.open();
  download.close?.();
  return undefined;
}

function openFile(context: Context, file: FileDownload): DownloadBytes | undefined {
  const { etag, modifiedMs, sizeBytes } = file;
  context.set({
    ETag: etag,
    "Last-Modified": new Date(modifiedMs).toUTCString(),
    "Accept-Ranges": "bytes",
    "Cache-Control": "private, no-cache",
  });
  const { headers } = context.req;
  if (isUnchanged(headers, file)) return sendEmpty(context, file, 304);
  const range = context.method === "GET" ? requestedRange(headers, file) : undefined;
  if (range === "unsatisfiable") {
    context.set({ "Content-Range": `bytes */${sizeBytes}`, "Content-Length": "0" });
    return sendEmpty(context, file, 416);
  }
  const { start, end } = range ?? { start: 0, end: sizeBytes - 1 };
  if (range) {
    context.status = 206;
    context.set("Content-Range", `bytes ${start}-${end}/${sizeBytes}`);
  }
  context.set("Content-Length", String(end - start + 1));
  if (context.method !== "HEAD" && sizeBytes > 0) return file.open({ start, end });
  file.close();
  return undefined;
}

function sendEmpty(context: Context, file: FileDownload, status: 304 | 416): undefined {
  context.status = status;
  file.close();
}

/** Returns a `Content-Disposition` value with the file name (RFC 6266), in ASCII for old clients and in UTF-8 (RFC 8187). */
function attachmentNamed(filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const exact = encodeURIComponent(filename).replace(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}
