import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Answer } from "./send.js";

/** A raw connection to a daemon, for bytes that no HTTP client would send. */
export interface RawConnection {
  readonly socket: Socket;
  /** Resolves with the next response that is complete by its Content-Length, including interim ones (1xx). */
  readonly nextAnswer: () => Promise<Answer>;
  /** Resolves with the bytes after the last response when the daemon has closed the connection. */
  readonly closed: () => Promise<string>;
}

export async function openConnection(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let received = "";
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => (received += chunk));
  // A connection also counts as closed if the server resets it.
  socket.on("error", () => {});
  const close = new Promise((resolve) => socket.once("close", resolve));
  await once(socket, "connect");
  const nextAnswer = async (): Promise<Answer> => {
    for (;;) {
      const taken = interceptResponse(received);
      if (taken) {
        received = received.slice(taken.length);
        return taken.answer;
      }
      if (socket.closed) throw new Error(`the connection was closed before a whole answer came: ${JSON.stringify(received)}`);
      await Promise.race([once(socket, "data"), close]);
    }
  };
  return {
    socket,
    nextAnswer,
    closed: async () => {
      await close;
      return received;
    },
  };
}

/** Sends bytes on a new connection and returns the first final response. */
export async function exchange(url: string, bytes: string): Promise<Answer> {
  const connection = await openConnection(url);
  try {
    connection.socket.write(bytes, "latin1");
    for (;;) {
      const answer = await connection.nextAnswer();
      if (answer.status >= 200) return answer;
    }
  } finally {
    connection.socket.destroy();
  }
}

function interceptResponse(text: string): { answer: Answer; length: number } | undefined {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const [statusLine = "", ...lines] = text.slice(0, headEnd).split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 2)]),
  );
  const length = headEnd + 4 + Number(headers["content-length"] ?? 0);
  if (text.length < length) return undefined;
  return { answer: { status: Number(statusLine.split(" ")[1]), headers, text: text.slice(headEnd + 4, length) }, length };
}
