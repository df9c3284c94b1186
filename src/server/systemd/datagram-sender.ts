/** Sends one datagram; answers with what kept it from going out. */
export type DatagramSender = (text: string) => string | undefined;

const addressFamilyUnix = 1;
const typeDatagram = 2;
const closeOnExec = 0o2_000_000;
/** Not waiting for a reader that is stuck, and no SIGPIPE for one that is gone. */
const sendFlags = 0x40 | 0x4000;
/** Of `sun_path` in Linux's `sockaddr_un`. */
const longestPathBytes = 108;

/**
 * A sender to a Unix datagram socket: a path, or `@` and an abstract name. Throws when koffi is not there or the address is none of
 * these. Flags are those of Linux, where there is a systemd.
 */
export async function openDatagramSender(address: string): Promise<DatagramSender> {
  const target = socketAddress(address);
  const { default: koffi } = await import("koffi");
  // The program itself: it has loaded the C library, whatever that is called here.
  const program = koffi.load(null);
  const socket = program.func("int socket(int domain, int type, int protocol)");
  const sendTo = program.func(
    "long sendto(int fd, const void *data, size_t length, int flags, const void *address, uint32_t addressLength)",
  );
  const descriptor = socket(addressFamilyUnix, typeDatagram | closeOnExec, 0) as number;
  if (descriptor < 0) throw new Error(`no datagram socket could be made (errno ${koffi.errno()})`);
  return (text) => {
    const data = Buffer.from(text, "utf8");
    const sent = Number(sendTo(descriptor, data, data.length, sendFlags, target, target.length));
    return sent === data.length ? undefined : `errno ${koffi.errno()}`;
  };
}

/** A `sockaddr_un` in the machine's byte order; an abstract name begins with a zero and is exactly as long as the address. */
function socketAddress(address: string): Buffer {
  if (!address.startsWith("/") && !address.startsWith("@"))
    throw new Error(`the address ${JSON.stringify(address)} is neither a path nor an abstract name`);
  const path = Buffer.from(address.startsWith("@") ? `\0${address.slice(1)}` : `${address}\0`, "utf8");
  if (path.length > longestPathBytes) throw new Error("the address is longer than a socket's may be");
  const family = Buffer.from(Uint16Array.of(addressFamilyUnix).buffer);
  return Buffer.concat([family, path]);
}
