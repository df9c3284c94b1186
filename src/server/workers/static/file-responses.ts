import { FastResponseWriter } from "../engine/fast-response-writer.js";
import { ownsOrigin } from "../engine/worker-address.js";
import type { WorkerExchange } from "../engine/worker-exchange.js";
import { isUnchanged, requestedRange } from "../../web/conditional.js";
import type { StaticFile } from "./static-file.js";

/** Maximum size in bytes of a body that the daemon copies into one write with the headers. */
const shortBodyBytes = 16 * 1024;

/** Sends a file completely or in part (206). Sends only headers (304) if the client already has the file. */
export class FileResponses {
  readonly #shortResponses = new FastResponseWriter();
  readonly #originPairs: readonly string[];
  readonly #originLines: string;

  /** `originHeaders`: headers that the daemon sends only for requests to a host name of the worker. */
  constructor({ originHeaders }: { readonly originHeaders: readonly (readonly [name: string, value: string])[] }) {
    this.#originPairs = originHeaders.flat();
    this.#originLines = originHeaders.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  }

  /** Sends the file, and closes the file's handle after the response. Returns the number of body bytes. */
  send(exchange: WorkerExchange, file: StaticFile): number {
    const { request, response, requestId } = exchange;
    this.#closeAfterResponse(exchange, file);
    if (response.closed) return 0;
    if (isUnchanged(request.headers, file)) return this.#sendUnchanged(exchange, file);
    const range = request.method === "GET" ? requestedRange(request.headers, file) : undefined;
    if (range === "unsatisfiable") {
      response.writeHead(416, ["content-range", `bytes */${file.sizeBytes}`, "content-length", "0", "x-request-id", requestId]);
      response.end();
      return 0;
    }
    if (range) return this.#sendPart(exchange, file, { ...range, status: 206 });
    const { body } = file;
    if (request.method === "GET" && body && body.length <= shortBodyBytes && FastResponseWriter.suits(response)) {
      const coding = file.coding ? `content-encoding: ${file.coding}\r\n` : "";
      const lines = `content-type: ${file.type}\r\n${coding}${file.validatorLines}${this.#linesFor(exchange)}content-length: ${body.length}\r\nx-request-id: ${requestId}\r\n`;
      this.#shortResponses.send(response, 200, lines, body.toString("latin1"));
      return body.length;
    }
    return this.#sendPart(exchange, file, { start: 0, end: file.sizeBytes - 1, status: 200 });
  }

  /** Sends the file with status 404, as the page for missing files. Returns the number of body bytes. */
  sendNotFound(exchange: WorkerExchange, file: StaticFile): number {
    this.#closeAfterResponse(exchange, file);
    return this.#sendPart(exchange, file, { start: 0, end: file.sizeBytes - 1, status: 404 });
  }

  #closeAfterResponse({ response }: WorkerExchange, { handle }: StaticFile): void {
    if (!handle) return;
    const close = (): void => void handle.close().catch(() => undefined);
    if (response.closed) close();
    else response.once("close", close);
  }

  #sendUnchanged(exchange: WorkerExchange, file: StaticFile): number {
    const { response, requestId } = exchange;
    if (FastResponseWriter.suits(response)) {
      this.#shortResponses.send(response, 304, `${file.validatorLines}${this.#linesFor(exchange)}x-request-id: ${requestId}\r\n`, "");
      return 0;
    }
    response.writeHead(304, [...file.validatorPairs, ...this.#pairsFor(exchange), "x-request-id", requestId]);
    response.end();
    return 0;
  }

  #sendPart(exchange: WorkerExchange, file: StaticFile, part: { start: number; end: number; status: 200 | 206 | 404 }): number {
    const { request, response, requestId } = exchange;
    const { start, end, status } = part;
    const headers = ["content-type", file.type, ...file.validatorPairs, ...this.#pairsFor(exchange), "x-request-id", requestId];
    if (file.coding) headers.push("content-encoding", file.coding);
    if (status === 206) headers.push("content-range", `bytes ${start}-${end}/${file.sizeBytes}`);
    headers.push("content-length", String(end - start + 1));
    response.writeHead(status, headers);
    if (request.method === "HEAD" || end < start) response.end();
    else if (file.body) response.end(status === 206 ? file.body.subarray(start, end + 1) : file.body);
    else if (file.handle) {
      const stream = file.handle.createReadStream({ start, end, autoClose: false });
      stream.on("error", () => response.destroy());
      response.on("close", () => stream.destroy());
      stream.pipe(response);
    }
    return request.method === "HEAD" ? 0 : end - start + 1;
  }

  #pairsFor({ address }: WorkerExchange): readonly string[] {
    return ownsOrigin(address) ? this.#originPairs : [];
  }

  #linesFor({ address }: WorkerExchange): string {
    return ownsOrigin(address) ? this.#originLines : "";
  }
}
