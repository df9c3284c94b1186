import type { Socket } from "node:net";

/** Gives the socket several pieces for one write; says whether all that it was ever given has left. */
export function sendPieces(socket: Socket, pieces: readonly Uint8Array[]): boolean {
  if (pieces.length > 1) socket.cork();
  for (const piece of pieces) socket.write(piece);
  if (pieces.length > 1) socket.uncork();
  return socket.writableLength === 0;
}
