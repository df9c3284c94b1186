import type { Server } from "node:http";
import type { LazyRequest } from "../../../web/lazy-request.js";
import { PlainResponse, toHeaders } from "../plain-response.js";
import { PairedWebSocket } from "../web-socket.js";
import { ResponseHeads } from "./response-head.js";
import { ServerConnection } from "./server-connection.js";

/** Maximum number of idle connections that wait for later requests. The limit bounds the memory. */
const maximumIdleConnections = 64;
/** Headers of a 101 response that the daemon writes itself. */
const handshakeHeaders = ["upgrade", "sec-websocket-accept", "sec-websocket-extensions"];

/** Returns a handler that passes requests to an `http.Server`. `report` receives the errors of WebSocket listeners. */
export function serveWith(server: Server, report: (error: unknown) => void): (request: LazyRequest) => unknown {
  const idle: ServerConnection[] = [];
  const options = {
    server,
    heads: new ResponseHeads(),
    openWebSocket: (lines: string) => {
      const [client, end] = PairedWebSocket.pair(report);
      const sent = toHeaders(lines);
      for (const name of handshakeHeaders) sent.delete(name);
      const init = { status: 101, headers: sent, webSocket: client };
      return { response: new PlainResponse(null, init) as unknown as Response, server: end };
    },
    onIdle: (connection: ServerConnection) => {
      if (idle.length < maximumIdleConnections) idle.push(connection);
      else setImmediate(() => connection.destroy());
    },
    onClose: (connection: ServerConnection) => {
      const index = idle.indexOf(connection);
      if (index !== -1) idle.splice(index, 1);
    },
  };
  return (request) => (idle.pop() ?? new ServerConnection(options)).request(request);
}
