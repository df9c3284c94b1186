import { once } from "node:events";
import net from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** Returns clients that misbehave, each for a few seconds. `urlOf(name)` is the URL of a worker, or of the app that replaces the worker. */
export function createBadClients(urlOf) {
  const connect = async (worker) => {
    const { hostname: host, port } = new URL(urlOf(worker));
    const socket = net.connect({ host, port: Number(port) });
    socket.on("error", () => undefined);
    await once(socket, "connect");
    return socket;
  };
  /** Opens a connection and sends the head of a request. */
  const ask = async (method, worker, lines = "") => {
    const { host, pathname } = new URL(urlOf(worker));
    const socket = await connect(worker);
    socket.write(`${method} ${pathname} HTTP/1.1\r\nhost: ${host}\r\n${lines}\r\n`);
    return socket;
  };
  const abortOne = async () => {
    const socket = await ask("GET", "never-answers");
    await delay(Math.random() * 50);
    socket.destroy();
  };
  return {
    "abort 100 requests": async () => {
      await Promise.all(Array.from({ length: 100 }, abortOne));
    },
    "read a byte at a time": async () => {
      const socket = await ask("GET", "html");
      socket.pause();
      for (let turn = 0; turn < 30; turn += 1) {
        await delay(100);
        socket.read(1);
      }
      socket.destroy();
    },
    "send a byte at a time": async () => {
      const socket = await ask("POST", "echo", "content-length: 100000\r\n");
      for (let turn = 0; turn < 30; turn += 1) {
        await delay(100);
        socket.write("x");
      }
      socket.destroy();
    },
    "send a body without end": async () => {
      const socket = await ask("POST", "never-reads", "transfer-encoding: chunked\r\n");
      const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
      const endMs = performance.now() + 2_000;
      while (performance.now() < endMs && !socket.destroyed) {
        if (!socket.write(chunk)) await Promise.race([once(socket, "drain").catch(() => undefined), delay(100)]);
      }
      socket.destroy();
    },
    "hold 50 silent connections": async () => {
      const sockets = await Promise.all(Array.from({ length: 50 }, () => connect("html")));
      await delay(3_000);
      for (const socket of sockets) socket.destroy();
    },
    "take a stream and leave": async () => {
      const socket = await ask("GET", "streams-without-end");
      socket.resume();
      await delay(1_500);
      socket.destroy();
    },
    "send what is not HTTP": async () => {
      const socket = await connect("html");
      socket.resume();
      socket.write(Buffer.from(Array.from({ length: 2_000 }, (_, index) => (index * 7) % 256)));
      await Promise.race([once(socket, "close"), delay(2_000)]);
      socket.destroy();
    },
  };
}
