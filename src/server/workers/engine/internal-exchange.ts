import { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/** A request that the daemon itself creates, and its response. Both are node:http objects without a network connection. */
interface InternalExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Resolves with the status when the response ends. Resolves with 502 if the response closes earlier. */
  readonly answered: Promise<number>;
}

/** Creates a request without a body. `onBytes` receives the bytes of the response as a client would receive them. */
export function createInternalExchange(method: string, onBytes: (bytes: Buffer) => void = () => undefined): InternalExchange {
  const socket = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      onBytes(chunk);
      done();
    },
  });
  const request = new IncomingMessage(socket as Socket);
  request.method = method;
  request.complete = true;
  request.push(null);
  const response = new ServerResponse(request);
  response.assignSocket(socket as Socket);
  const answered = new Promise<number>((resolve) => {
    response.once("finish", () => {
      resolve(response.statusCode);
      response.emit("close");
      socket.destroy();
    });
    response.once("close", () => resolve(502));
  });
  return { request, response, answered };
}
