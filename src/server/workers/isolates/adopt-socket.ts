import { Socket, type OnReadOpts } from "node:net";

/** Fields that node:net keeps to itself, under the names that they have had since its first releases. */
interface Inner {
  _handle: object | null;
}

/**
 * A socket on the connection of another one that reads into buffers of ours; take what the other one has read before. The public way,
 * `onread`, is only for sockets that connect, and those to isolates come in at a server of ours; without it each read allocates 64 KB,
 * and takes no more than that.
 */
export function adoptSocket(socket: Socket, onread: OnReadOpts): Socket {
  const inner = socket as unknown as Inner;
  // oxlint-disable-next-line no-underscore-dangle -- as above
  const { _handle: handle } = inner;
  const options: object = { handle, onread, readable: true, writable: true };
  const adopted = new Socket(options);
  // oxlint-disable-next-line no-underscore-dangle -- one handle has one socket
  inner._handle = null;
  // The process counts as closed when the socket that it came with is.
  adopted.once("close", () => socket.destroy());
  return adopted;
}
