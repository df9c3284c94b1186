import dgram from "node:dgram";
import net from "node:net";
import { constants } from "node:os";
import { prototypeOfHandle, prototypeOfUdpHandle, replaceMethods } from "./handle-prototypes.js";

const listenMessage =
  "A worker cannot listen on a port or socket. Export a fetch handler instead, such as `export default { fetch(request) { ... } }`: the daemon serves it at the worker's path.";
const udpMessage =
  'A worker cannot open a UDP socket, not even to send, without the permission "udp". Add it to `permissions` in the manifest; the operator allows it by RUNTIME_WORKER_PERMISSIONS.';

/** Methods of the handles below node:dgram that give a process an address, or use one. */
const udpMethods = ["open", "bind", "bind6", "connect", "connect6", "send", "send6", "recvStart"];

/**
 * Denies every way to listen, in node:net and in the handles below it: browsers send the cookies of a host to each of its ports, so an app
 * with a port of its own would receive the operator's session. `pipe` is any open socket that is no TCP socket; `allowsUdp` leaves
 * node:dgram as it is.
 */
export function denyListening({ pipe, allowsUdp }: { pipe: net.Socket; allowsUdp: boolean }): void {
  net.Server.prototype.listen = () => throwDenied(listenMessage, "listen");
  // `connect` creates the handle at once; the socket is destroyed before the turn in which it would connect.
  const socket = new net.Socket().connect({ host: "127.0.0.1", port: 1 });
  for (const prototype of [prototypeOfHandle(pipe), prototypeOfHandle(socket)]) {
    replaceMethods(prototype, ["listen"], () => throwDenied(listenMessage, "listen"));
    replaceMethods(prototype, ["bind", "bind6"], refuse);
  }
  socket.destroy();
  if (allowsUdp) return;
  dgram.Socket.prototype.bind = () => throwDenied(udpMessage, "bind");
  const udpSocket = dgram.createSocket("udp4");
  replaceMethods(prototypeOfUdpHandle(udpSocket), udpMethods, refuse);
  udpSocket.close();
}

function throwDenied(message: string, syscall: string): never {
  throw Object.assign(new Error(message), { code: "EACCES", syscall });
}

/** Handles return errors as numbers; node:net makes an "error" event of it, for a connection with a `localAddress` too. */
function refuse(): number {
  return -constants.errno.EACCES;
}
