import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";

const certificateProblems: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate comes from an authority that is not trusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate comes from an authority that is not trusted",
  UNABLE_TO_GET_ISSUER_CERT: "its certificate comes from an authority that is not trusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its certificate comes from an authority that is not trusted",
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet; check the clock",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host name",
};

const connectionProblems: Readonly<Record<string, readonly [reason: string, hint?: string]>> = {
  ECONNREFUSED: ["nothing listens there", "is runtimed running, and is the port right?"],
  ENOTFOUND: ["the host name is unknown", "check the URL"],
  EAI_AGAIN: ["the host name cannot be looked up now", "check the network and the name server"],
  EHOSTUNREACH: ["the host cannot be reached", "check the network"],
  ENETUNREACH: ["the network cannot be reached", "check the network"],
  ECONNRESET: ["the connection was cut"],
  EPIPE: ["the connection was cut"],
  UND_ERR_SOCKET: ["the connection was cut"],
  UND_ERR_CONNECT_TIMEOUT: ["no connection within the time limit", "check the address, or allow more time with --timeout"],
};

/** Where a request went, and by which proxy: its URL may hold a user and a password, which are never shown. */
export interface Destination {
  readonly origin: string;
  readonly proxy?: string | undefined;
}

/** Of a connection that was never there: with a proxy, the one to the proxy. */
const unconnectedCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Words for what went wrong below HTTP. Failures that have their words already pass through. */
export function connectionFailure({ origin, proxy }: Destination, error: unknown): unknown {
  if (error instanceof CommandError) return error;
  const refusedStatus = proxy === undefined ? undefined : /^Proxy response \((\d+)\)/.exec(messageOf(error))?.[1];
  if (refusedStatus !== undefined) return proxyRefusal(origin, Number(refusedStatus), error);
  const code = codeOf(error);
  if (code === undefined) return error;
  const certificate = certificateProblems[code];
  if (certificate !== undefined)
    return new CommandError("CERTIFICATE_REFUSED", `${origin} is not trusted: ${certificate}`, {
      exitCode: exitCodes.unavailable,
      hint: "give the authority's certificate with --cacert FILE",
      cause: error,
    });
  const [reason, hint] = tlsProblem(origin, error, code) ?? connectionProblems[code] ?? [`${messageOf(error)} (${code})`];
  const place = proxy !== undefined && unconnectedCodes.has(code) ? `the proxy ${new URL(proxy).host}` : origin;
  return new CommandError("UNREACHABLE", `cannot reach ${place}: ${reason}`, { exitCode: exitCodes.unavailable, hint, cause: error });
}

/** OpenSSL's message is a list of its functions and files; `reason` is the part for people. */
function tlsProblem(origin: string, error: unknown, code: string): readonly [reason: string, hint?: string] | undefined {
  const { reason } = error as { readonly reason?: unknown };
  if (typeof reason !== "string" || !(code === "EPROTO" || code.startsWith("ERR_SSL_"))) return undefined;
  // The first bytes of the response are no TLS record, as those of a plain HTTP server.
  if (reason === "wrong version number") return ["this port uses http, not https", `--url ${origin.replace(/^https:/, "http:")}`];
  return [`the TLS handshake failed: ${reason}`, "runtimectl doctor"];
}

function proxyRefusal(origin: string, status: number, cause: unknown): CommandError {
  return new CommandError("PROXY_REFUSED", `the proxy does not lead to ${origin}: it responds with ${status}`, {
    exitCode: exitCodes.unavailable,
    hint: status === 407 ? "give it its user and password in HTTPS_PROXY" : "check HTTPS_PROXY, or name the host in NO_PROXY",
    cause,
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function timeoutFailure(origin: string, limitMs: number): CommandError {
  return new CommandError("TIMEOUT", `${origin} did not answer within ${limitMs / 1000} s`, {
    exitCode: exitCodes.unavailable,
    hint: "try again, or allow more time with --timeout",
  });
}

/** The system's code of a failure, also of the first of several (a host with many addresses). */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  const { code } = error as NodeJS.ErrnoException;
  // undici's parser errors begin with HPE_: whatever answers there does not speak HTTP.
  return typeof code === "string" && /^(E[A-Z]|UND_|HPE_|CERT_|DEPTH_|SELF_|UNABLE_)/.test(code) ? code : undefined;
}
