import { once } from "node:events";
import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from "node:tls";
import { callbackify } from "node:util";
import { CommandError } from "../command-error.js";
import { exitCodes } from "../exit-codes.js";
import { connectionFailure } from "./connection-failure.js";

export interface TunnelOptions extends ConnectionOptions {
  /** May hold a user and a password, which nobody else gets to see. */
  readonly proxy: string;
  readonly host: string;
  readonly port: number;
  readonly timeoutMs: number;
}

/**
 * Opens TLS to a host through an HTTP proxy: what goes over it, the key above all, the proxy cannot read. Calls back, as Node's agents
 * and undici's connectors want it.
 */
export const openTunnel = callbackify(async (options: TunnelOptions): Promise<TLSSocket> => {
  const { proxy: _proxy, timeoutMs: _timeout, port: _port, ...tls } = options;
  const tunnel = await tunnelTo(options);
  // The host is for the check of the certificate; the connection is there.
  const secured = connectTls({ ...tls, socket: tunnel });
  await once(secured, "secureConnect");
  return secured;
});

async function tunnelTo(options: TunnelOptions): Promise<Socket> {
  const proxy = new URL(options.proxy);
  const { request } = proxy.protocol === "https:" ? await import("node:https") : await import("node:http");
  const target = `${options.host.includes(":") ? `[${options.host}]` : options.host}:${options.port}`;
  const { username, password, hostname, port } = proxy;
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64");
  const asked = request({
    method: "CONNECT",
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port || (proxy.protocol === "https:" ? 443 : 80),
    path: target,
    headers: { host: target, ...(username === "" ? {} : { "proxy-authorization": `Basic ${credentials}` }) },
    agent: false,
    timeout: options.timeoutMs,
  });
  return answered(asked, `${proxy.protocol}//${proxy.host}`, target);
}

function answered(asked: ClientRequest, proxy: string, target: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    asked.on("connect", ({ statusCode = 0 }: IncomingMessage, socket: Socket) => {
      if (statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(refusal(proxy, target, statusCode));
    });
    // A proxy that answers as a web server does.
    asked.on("response", ({ statusCode = 0 }) => {
      asked.destroy();
      reject(refusal(proxy, target, statusCode));
    });
    asked.on("timeout", () => asked.destroy(Object.assign(new Error("no answer"), { code: "ETIMEDOUT" })));
    asked.on("error", (error) => reject(connectionFailure(`the proxy ${proxy}`, error)));
    asked.end();
  });
}

function refusal(proxy: string, target: string, status: number): CommandError {
  const hint = status === 407 ? "give it its user and password in HTTPS_PROXY" : "check HTTPS_PROXY, or name the host in NO_PROXY";
  return new CommandError("PROXY_REFUSED", `the proxy ${proxy} does not lead to ${target}: it answers ${status}`, {
    exitCode: exitCodes.unavailable,
    hint,
  });
}
