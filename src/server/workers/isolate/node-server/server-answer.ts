import type { ResponseHead } from "./response-head.js";

/** The response of an `http.Server`. The headers are as the server has written them. */
export class ServerAnswer {
  readonly status: number;
  /** Response headers as lines of the frame protocol: name, value, next name. */
  readonly head: string;
  readonly body: Uint8Array | ReadableStream<Uint8Array>;
  /** Length of a streamed body in bytes. -1 if the length is unknown. */
  readonly length: number;

  constructor({ status, lines }: ResponseHead, body: Uint8Array | ReadableStream<Uint8Array>, length = -1) {
    this.status = status;
    this.head = lines;
    this.body = body;
    this.length = length;
  }
}
