/** Something that can be told to close. */
interface Leaver {
  leave(code: number, reason: string): void;
}

/** All web sockets of the daemon, so that it can close them when it stops. */
export class OpenSockets {
  readonly #sockets = new Set<Leaver>();
  #farewell: { code: number; reason: string } | undefined;

  /** One that comes too late is closed at once. */
  add(socket: Leaver): void {
    this.#sockets.add(socket);
    if (this.#farewell) socket.leave(this.#farewell.code, this.#farewell.reason);
  }

  delete(socket: Leaver): void {
    this.#sockets.delete(socket);
  }

  closeAll(code: number, reason: string): void {
    this.#farewell = { code, reason };
    for (const socket of this.#sockets) socket.leave(code, reason);
  }
}
