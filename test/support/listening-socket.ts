import koffi from "koffi";

/** A listening TCP socket without an accepting process, like a socket of systemd. */
export interface ListeningSocket {
  readonly fd: number;
  readonly port: number;
  readonly close: () => void;
}

const addressBytes = 16;
const backlog = 4096;
const library = koffi.load(null);
const socket = library.func("int socket(int domain, int type, int protocol)");
const bind = library.func("int bind(int fd, const void *address, uint32_t length)");
const listen = library.func("int listen(int fd, int backlog)");
const nameOf = library.func("int getsockname(int fd, void *address, void *length)");
const close = library.func("int close(int fd)");

/** Listens on a free port of 127.0.0.1. */
export function openListeningSocket(): ListeningSocket {
  const internet = 2;
  const streamCloseOnExec = 1 | 0o2_000_000;
  const fd = socket(internet, streamCloseOnExec, 0) as number;
  const address = Buffer.alloc(addressBytes);
  address.set(Uint8Array.from(Buffer.from(Uint16Array.of(internet).buffer)), 0);
  address.set([127, 0, 0, 1], 4);
  const length = Buffer.from(Uint32Array.of(addressBytes).buffer);
  if (bind(fd, address, addressBytes) !== 0 || listen(fd, backlog) !== 0 || nameOf(fd, address, length) !== 0)
    throw new Error(`no socket listens (errno ${koffi.errno()})`);
  return { fd, port: address.readUInt16BE(2), close: () => void close(fd) };
}
