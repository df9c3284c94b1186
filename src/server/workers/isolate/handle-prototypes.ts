import type dgram from "node:dgram";
import type net from "node:net";

/** Replaces methods so that no app can replace them again: the new methods check or deny access to the network. */
export function replaceMethods(prototype: object, methods: readonly string[], value: (...values: unknown[]) => unknown): void {
  for (const method of methods) Object.defineProperty(prototype, method, { value, writable: false, configurable: false });
}

/** Throws a TypeError where Node keeps its handle elsewhere: an isolate without its checks must not start. */
export function prototypeOfHandle(socket: net.Socket): object {
  const { _handle: handle } = socket as unknown as { _handle: object };
  return Object.getPrototypeOf(handle) as object;
}

/** The same for a socket of node:dgram. */
export function prototypeOfUdpHandle(socket: dgram.Socket): object {
  const state = Object.getOwnPropertySymbols(socket).find(({ description }) => description === "state symbol");
  const { handle } = (socket as unknown as Record<symbol, { handle: object }>)[state as symbol] as { handle: object };
  return Object.getPrototypeOf(handle) as object;
}
