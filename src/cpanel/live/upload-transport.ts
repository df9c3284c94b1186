import type { Transport, TransportResponse } from "../../shared/client.js";
import type { UploadSource } from "../../shared/contract/endpoint.js";
import type { FormField } from "../../shared/multipart.js";
import { DaemonAwayError } from "./daemon-away-error.js";
import { isSessionRefused, type FetchTransportOptions } from "./fetch-transport.js";

/** Files to send, and callbacks for the progress. */
export interface FilesToSend {
  /** Name of the file parts. */
  readonly field: string;
  readonly files: readonly { readonly file: Blob; readonly filename: string }[];
  /** Text fields before the files. */
  readonly texts?: readonly FormField[];
  /** Receives the number of bytes that have left the browser. */
  readonly onSent: (sentBytes: number) => void;
  /** Aborts the upload; the call rejects with its reason. */
  readonly signal: AbortSignal;
}

/** Placeholder for the file of a call whose transport sends the files. */
export function nothingToSend(): UploadSource {
  return { filename: "", bytes: nothing() };
}

async function* nothing(): AsyncGenerator<Uint8Array, void> {}

/** Sends files with XMLHttpRequest: `fetch` does not report the progress of an upload. */
export function createUploadTransport(
  { daemonPath, onAway, onRefused }: Omit<FetchTransportOptions, "fetch">,
  sent: FilesToSend,
): Transport {
  return async ({ method, path }) => {
    const form = new FormData();
    for (const [name, text] of sent.texts ?? []) form.append(name, text);
    for (const { file, filename } of sent.files) form.append(sent.field, file, filename);
    const sizeBytes = sent.files.reduce((sum, { file }) => sum + file.size, 0);
    const response = await new Promise<TransportResponse>((resolve, reject) => {
      const request = new XMLHttpRequest();
      const fail = (cause: unknown) => {
        onAway();
        reject(new DaemonAwayError(cause));
      };
      request.open(method, daemonPath + path);
      request.upload.addEventListener("progress", ({ loaded }) => sent.onSent(Math.min(loaded, sizeBytes)));
      request.addEventListener("load", () =>
        resolve({ status: request.status, requestId: request.getResponseHeader("x-request-id") ?? undefined, text: request.responseText }),
      );
      request.addEventListener("error", () => fail("the connection was lost"));
      request.addEventListener("abort", () => reject(sent.signal.reason as Error));
      if (sent.signal.aborted) return reject(sent.signal.reason as Error);
      sent.signal.addEventListener("abort", () => request.abort(), { once: true });
      request.send(form);
    });
    if (response.status === 401 && isSessionRefused(response.text)) onRefused();
    return response;
  };
}
