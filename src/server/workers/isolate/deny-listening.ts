import dgram from "node:dgram";
import net from "node:net";

const hint =
  "Export a fetch handler instead, such as `export default { fetch(request) { ... } }`: the daemon serves it at the worker's path.";
const listenMessage = `A worker cannot listen on a port or socket. ${hint}`;
const udpMessage =
  'A worker cannot open a UDP socket, not even to send, without the permission "udp". Add it to `permissions` in the manifest; the operator allows it by RUNTIME_WORKER_PERMISSIONS.';

/** Methods of the native handles below node:net and node:dgram that give a process an address of its own. */
const listeningMethods = ["bind", "bind6", "listen"];
const udpMethods = ["bind", "bind6", "recvStart"];

/**
 * Has every way to listen throw, in node:net and in the handles below it: browsers send the cookies of a host to each of its ports, so an
 * app with a port of its own would receive the operator's session. `allowsUdp` leaves node:dgram as it is.
 */
export function denyListening({ pipe, allowsUdp }: { pipe: net.Socket; allowsUdp: boolean }): void {
  deny(net.Server.prototype, ["listen"], listenMessage);
  deny(prototypeOfHandle(pipe), listeningMethods, listenMessage);
  // `connect` creates the handle at once and connects in a later turn, which does not come.
  const socket = new net.Socket().connect({ host: "127.0.0.1", port: 1 });
  deny(prototypeOfHandle(socket), listeningMethods, listenMessage);
  socket.destroy();
  if (allowsUdp) return;
  deny(dgram.Socket.prototype, ["bind"], udpMessage);
  const udpSocket = dgram.createSocket("udp4");
  deny(prototypeOfUdpHandle(udpSocket), udpMethods, udpMessage);
  udpSocket.close();
}

function deny(prototype: object, methods: readonly string[], message: string): void {
  for (const method of methods) {
    const throwDenied = (): never => {
      throw Object.assign(new Error(message), { code: "EACCES", syscall: method });
    };
    Object.defineProperty(prototype, method, { value: throwDenied, writable: false, configurable: false });
  }
}

/** Throws a TypeError where Node keeps its handle elsewhere: an isolate that could listen must not start. */
function prototypeOfHandle(socket: net.Socket): object {
  const { _handle: handle } = socket as unknown as { _handle: object };
  return Object.getPrototypeOf(handle) as object;
}

function prototypeOfUdpHandle(socket: dgram.Socket): object {
  const state = Object.getOwnPropertySymbols(socket).find(({ description }) => description === "state symbol");
  const { handle } = (socket as unknown as Record<symbol, { handle: object }>)[state as symbol] as { handle: object };
  return Object.getPrototypeOf(handle) as object;
}
