import type { Transport, TransportResponse } from "../../shared/client.js";
import type { UploadSource } from "../../shared/contract/endpoint.js";
import type { FormField } from "../../shared/multipart.js";
import { DaemonAwayError } from "./daemon-away-error.js";
import { isSessionRefused, type FetchTransportOptions } from "./fetch-transport.js";

/** The content of one upload, with a callback for the progress and a signal that aborts the upload. */
export interface FilesToSend {
  /** Name of the multipart form field for each file. */
  readonly field: string;
  readonly files: readonly { readonly file: Blob; readonly filename: string }[];
  /** Text fields of the multipart form. The form contains them before the files. */
  readonly texts?: readonly FormField[];
  /** Callback that receives the number of bytes that the browser has sent so far. */
  readonly onSent: (sentBytes: number) => void;
  /** Aborts the upload. The call then rejects with the signal's reason. */
  readonly signal: AbortSignal;
}

/** Returns an empty file for the `file` argument of a call. The upload transport sends the real files instead. */
export function nothingToSend(): UploadSource {
  return { filename: "", bytes: nothing() };
}

async function* nothing(): AsyncGenerator<Uint8Array, void> {}

/** Creates a transport that sends files with XMLHttpRequest, because `fetch` does not report the progress of an upload. */
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
        reject(new DaemonAwayError(cause, method));
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
