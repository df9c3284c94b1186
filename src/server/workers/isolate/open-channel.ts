import { Socket, type ConnectOpts, type SocketConstructorOpts } from "node:net";

/** The descriptor of our end of the socket pair. */
const channelDescriptor = 3;
const readBytes = 64 * 1024;

/**
 * Our end of the socket pair. `onBytes` gets a buffer that the next bytes are read into: what is kept of it has to be copied. An isolate
 * that is one of hundreds finds its memory cold each time that it is woken, and a stream with a buffer for each read touches twice as
 * much of it.
 */
export function openChannel(onBytes: (bytes: Buffer) => void): Socket {
  const buffer = Buffer.allocUnsafeSlow(readBytes);
  const callback = (count: number): boolean => {
    onBytes(buffer.subarray(0, count));
    return true;
  };
  // Its type lists `onread` only for connections that it opens itself; it holds for a descriptor too.
  const options: SocketConstructorOpts & ConnectOpts = { fd: channelDescriptor, onread: { buffer, callback } };
  return new Socket(options);
}
