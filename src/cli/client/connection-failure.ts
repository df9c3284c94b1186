import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";

const certificateProblems: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate authority is not trusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate authority is not trusted",
  UNABLE_TO_GET_ISSUER_CERT: "its certificate authority is not trusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its certificate authority is not trusted",
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet; check the clock of this machine",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host name",
};

const connectionProblems: Readonly<Record<string, readonly [reason: string, hint?: string]>> = {
  ECONNREFUSED: ["connection refused", "check that runtimed is running and that the port is correct"],
  ENOTFOUND: ["the host name does not exist", "check the URL"],
  EAI_AGAIN: ["the DNS lookup failed temporarily", "check the network and the DNS server"],
  EHOSTUNREACH: ["the host cannot be reached", "check the network"],
  ENETUNREACH: ["the network cannot be reached", "check the network"],
  ECONNRESET: ["the connection was closed before the response was complete"],
  EPIPE: ["the connection was closed before the response was complete"],
  UND_ERR_SOCKET: ["the connection was closed before the response was complete"],
  UND_ERR_CONNECT_TIMEOUT: ["the connection timed out", "check the address, or raise the limit with --timeout"],
};

/**
 * The origin of a request, and the URL of the proxy through which the request is sent. Messages must not contain the proxy URL, which can
 * include a user and password.
 */
export interface Destination {
  readonly origin: string;
  readonly proxy?: string | undefined;
}

/**
 * Error codes that mean that no TCP connection was opened. If runtimectl uses a proxy, the failed connection is the connection to the
 * proxy.
 */
const unconnectedCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Converts an error of DNS, TCP, TLS or a proxy to a CommandError. Returns any other error unchanged. */
export function connectionFailure({ origin, proxy }: Destination, error: unknown): unknown {
  if (error instanceof CommandError) return error;
  const refusedStatus = proxy === undefined ? undefined : /^Proxy response \((\d+)\)/.exec(messageOf(error))?.[1];
  if (refusedStatus !== undefined) return proxyRefusal(origin, Number(refusedStatus), error);
  const code = codeOf(error);
  if (code === undefined) return error;
  const certificate = certificateProblems[code];
  if (certificate !== undefined)
    return new CommandError("CERTIFICATE_REFUSED", `the certificate of ${origin} is not trusted: ${certificate}`, {
      exitCode: exitCodes.unavailable,
      hint: "pass the CA certificate with --cacert FILE",
      cause: error,
    });
  const [reason, hint] = tlsProblem(origin, error, code) ?? connectionProblems[code] ?? [`${messageOf(error)} (${code})`];
  const place = proxy !== undefined && unconnectedCodes.has(code) ? `the proxy ${new URL(proxy).host}` : origin;
  return new CommandError("UNREACHABLE", `cannot reach ${place}: ${reason}`, { exitCode: exitCodes.unavailable, hint, cause: error });
}

/** Describes a TLS error by its field `reason`, because the field `message` lists internal functions and files of OpenSSL. */
function tlsProblem(origin: string, error: unknown, code: string): readonly [reason: string, hint?: string] | undefined {
  const { reason } = error as { readonly reason?: unknown };
  if (typeof reason !== "string" || !(code === "EPROTO" || code.startsWith("ERR_SSL_"))) return undefined;
  // OpenSSL reports this reason for a server without TLS, because the first bytes of the response are not a TLS record.
  if (reason === "wrong version number") return ["this port uses http, not https", `--url ${origin.replace(/^https:/, "http:")}`];
  return [`the TLS handshake failed: ${reason}`, "runtimectl doctor"];
}

function proxyRefusal(origin: string, status: number, cause: unknown): CommandError {
  return new CommandError("PROXY_REFUSED", `the proxy rejected the connection to ${origin} with status ${status}`, {
    exitCode: exitCodes.unavailable,
    hint: status === 407 ? "add the user and password to the URL in HTTPS_PROXY" : "check HTTPS_PROXY, or add the host to NO_PROXY",
    cause,
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function timeoutFailure(origin: string, limitMs: number): CommandError {
  return new CommandError("TIMEOUT", `${origin} did not respond within ${limitMs / 1000} s`, {
    exitCode: exitCodes.unavailable,
    hint: "try again, or raise the limit with --timeout",
  });
}

/**
 * Returns the system error code of an error. For an AggregateError, which occurs if a host has several addresses, returns the code of the
 * first contained error.
 */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  const { code } = error as NodeJS.ErrnoException;
  // Includes the codes of undici's HTTP parser, which start with HPE_ and mean that the response is not valid HTTP.
  return typeof code === "string" && /^(E[A-Z]|UND_|HPE_|CERT_|DEPTH_|SELF_|UNABLE_)/.test(code) ? code : undefined;
}
