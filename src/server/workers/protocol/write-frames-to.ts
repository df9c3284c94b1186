import type { Socket } from "node:net";
import { FrameWriter } from "./frame-writer.js";

/** A writer whose frames go to a socket, several pieces in one write. */
export function writeFramesTo(socket: Socket): FrameWriter {
  const writer = new FrameWriter((pieces) => {
    if (!socket.writable) return false;
    if (pieces.length > 1) socket.cork();
    for (const piece of pieces) socket.write(piece);
    if (pieces.length > 1) socket.uncork();
    return socket.writableLength === 0;
  });
  socket.on("drain", () => {
    if (socket.writableLength === 0) writer.reuse();
  });
  return writer;
}
