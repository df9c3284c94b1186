import type { OutgoingRequest } from "./outgoing-request.js";
import { toResponse, type Headers, type RawResponse } from "./raw-response.js";
import { openClient, type StreamingOptions } from "./streaming-client.js";

/** Sends a body as it comes, no faster than the other side takes it, and reads the answer whole. */
export async function upload(request: OutgoingRequest, body: AsyncIterable<Uint8Array>, options: StreamingOptions): Promise<RawResponse> {
  const { until } = options;
  const client = openClient(options);
  const end = (reason?: unknown) => void client.destroy(reason as Error).catch(() => undefined);
  until.addEventListener("abort", () => end(until.reason), { once: true });
  try {
    return await new Promise<RawResponse>((resolve, reject) => {
      const chunks: Buffer[] = [];
      let status = 0;
      let received: Headers = {};
      client.dispatch(
        // The types of dispatch leave out async iterables, which it takes.
        { ...request, body: body as unknown as string },
        {
          onRequestStart: () => {},
          onResponseStart: (_controller, statusCode, headers) => {
            status = statusCode;
            received = headers;
          },
          onResponseData: (_controller, chunk) => void chunks.push(chunk),
          onResponseEnd: () => resolve(toResponse(status, received, Buffer.concat(chunks))),
          onResponseError: (_controller, error) => reject(error),
        },
      );
    });
  } finally {
    end();
  }
}
