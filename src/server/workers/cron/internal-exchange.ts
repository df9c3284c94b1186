import { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/** A request of the runtime's own and the answer to it, made of the objects that a client's would be made of, without a connection. */
export interface InternalExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Resolves with the status when the answer is complete or broken off; 502 stands for the latter. */
  readonly answered: Promise<number>;
}

export function createInternalExchange(method: string): InternalExchange {
  // What is answered is for nobody: only the status counts.
  const socket = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
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
