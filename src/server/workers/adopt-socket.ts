import { Socket, type OnReadOpts } from "node:net";

/** Fields that node:net keeps to itself, under the names that they have had since its first releases. */
interface Inner {
  _handle: object | null;
}

/**
 * A socket on the connection of another one, which nobody has read from yet, that reads into buffers of ours. The public way, `onread`,
 * is only for sockets that are made here, and those to a child process are made by node:child_process; without it each read allocates
 * 64 KB, and takes no more than that.
 */
export function adoptSocket(socket: Socket, onread: OnReadOpts): Socket {
  const inner = socket as unknown as Inner;
  // oxlint-disable-next-line no-underscore-dangle -- as above
  const { _handle: handle } = inner;
  const options: object = { handle, onread, readable: true, writable: true };
  const adopted = new Socket(options);
  // oxlint-disable-next-line no-underscore-dangle -- one handle has one socket
  inner._handle = null;
  // The child process counts as closed when the socket that it knows is.
  adopted.once("close", () => socket.destroy());
  return adopted;
}
