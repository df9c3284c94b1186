import { once } from "node:events";
import { lookup } from "node:dns/promises";
import { connect as connectTcp, isIP } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { pluralize } from "../output/format.js";
import type { Settings } from "../config/settings.js";
import { connectionFailure } from "../client/connection-failure.js";
import { fail, ok, warn, type Finding } from "./report.js";

const longestStepMs = 10_000;
const certificateWarningDays = 14;
const dayMs = 24 * 60 * 60 * 1000;

/** Checks DNS, TCP and TLS of the daemon's origin in this order. Stops after the first check that fails. */
export async function* checkNetwork(settings: Settings): AsyncGenerator<Finding> {
  // Skips the checks, because the proxy resolves the host name and opens the connection. The discovery check then shows whether the
  // connection works.
  if (settings.proxy) {
    yield ok("proxy", `requests to ${settings.origin.value} use the proxy of ${settings.proxy.source}`);
    return;
  }
  const url = new URL(settings.origin.value);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const place = { host, port: Number(url.port) || (url.protocol === "https:" ? 443 : 80) };
  const steps = [
    ...(isIP(host) === 0 ? [{ check: "dns", run: () => checkName(host) }] : []),
    { check: "tcp", run: () => checkConnection(place, settings) },
    { check: "tls", run: () => checkTransport(url, place, settings) },
  ];
  for (const { check, run } of steps) {
    const finding = await run().catch((error: unknown) => unreachable(check, settings, error));
    yield finding;
    if (finding.status === "fail") return;
  }
}

interface Place {
  readonly host: string;
  readonly port: number;
}

export async function checkName(host: string): Promise<Finding> {
  const addresses = await lookup(host, { all: true });
  return ok("dns", `${host} is ${addresses.map(({ address }) => address).join(", ")}`);
}

async function checkConnection(place: Place, settings: Settings): Promise<Finding> {
  const startedAtMs = performance.now();
  const socket = connectTcp(place);
  try {
    await once(socket, "connect", { signal: limit(settings) });
    return ok("tcp", `${place.host} port ${place.port} connected in ${(performance.now() - startedAtMs).toFixed(1)} ms`);
  } finally {
    socket.destroy();
  }
}

export async function checkTransport(url: URL, place: Place, settings: Settings): Promise<Finding> {
  if (url.protocol === "http:")
    return isLoopback(place.host)
      ? ok("tls", "not required on the loopback address")
      : warn("tls", "http: an attacker on the network can read the key", "serve the daemon over TLS and use an https URL");
  const { certificateAuthorities: ca } = settings;
  const socket = connectTls({
    ...place,
    rejectUnauthorized: false,
    ...(isIP(place.host) === 0 ? { servername: place.host } : {}),
    ...(ca === undefined ? {} : { ca }),
  });
  try {
    await once(socket, "secureConnect", { signal: limit(settings) });
    return checkCertificate(socket, settings);
  } finally {
    socket.destroy();
  }
}

function checkCertificate(socket: TLSSocket, settings: Settings): Finding {
  const refusal = socket.authorizationError as Error | string | null | undefined;
  if (!socket.authorized && refusal) {
    const { message } = describe(settings, Object.assign(new Error(String(refusal)), { code: codeOf(refusal) }));
    if (settings.insecure) return warn("tls", `${message}; --insecure accepts it`, "pass the CA certificate with --cacert FILE");
    return fail("tls", message, "pass the CA certificate with --cacert FILE");
  }
  const validDays = Math.floor((Date.parse(socket.getPeerCertificate().valid_to) - Date.now()) / dayMs);
  const message = `${socket.getProtocol() ?? "TLS"}, the certificate is valid for ${pluralize(validDays, "day")}`;
  return validDays < certificateWarningDays ? warn("tls", message, "renew the certificate of the daemon or its proxy") : ok("tls", message);
}

/** Returns the code of a TLS error. Older versions of Node.js provide only the code, as a string. */
function codeOf(refusal: Error | string): string {
  return typeof refusal === "string" ? refusal : ((refusal as NodeJS.ErrnoException).code ?? "");
}

function limit({ timeout }: Settings): AbortSignal {
  return AbortSignal.timeout(Math.min(timeout.value, longestStepMs));
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}

function unreachable(check: string, settings: Settings, error: unknown): Finding {
  const { message, hint } = describe(settings, error);
  return fail(check, message, hint ?? "check the URL and the network");
}

function describe({ origin }: Settings, error: unknown): { message: string; hint?: string } {
  if (error instanceof Error && error.name === "AbortError")
    return { message: "the connection timed out", hint: "check the address and the firewalls" };
  return connectionFailure({ origin: origin.value }, error) as Error & { hint?: string };
}
