// A stub of systemd's notify socket: prints each datagram at a Unix address (a path, or `@` and an abstract name) as a line of JSON.
import { writeSync } from "node:fs";
import koffi from "koffi";

const [address] = process.argv.slice(2);
const library = koffi.load(null);
const socket = library.func("int socket(int domain, int type, int protocol)");
const bind = library.func("int bind(int fd, const void *address, uint32_t length)");
const receive = library.func("long recv(int fd, void *data, size_t length, int flags)");

const name = Buffer.from(address.startsWith("@") ? `\0${address.slice(1)}` : `${address}\0`);
const target = Buffer.concat([Buffer.from(Uint16Array.of(1).buffer), name]);
const fd = socket(1, 2, 0);
if (bind(fd, target, target.length) !== 0) throw new Error(`cannot bind ${address} (errno ${koffi.errno()})`);
writeSync(1, "listening\n");
const data = Buffer.alloc(65_536);
for (;;) {
  const length = Number(receive(fd, data, data.length, 0));
  writeSync(1, `${JSON.stringify(data.toString("utf8", 0, length))}\n`);
}
