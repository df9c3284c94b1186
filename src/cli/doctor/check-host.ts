import { request } from "node:http";
import { request as requestSecurely, type RequestOptions } from "node:https";
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { pluralize } from "../output/format.js";
import type { Settings } from "../config/settings.js";
import { checkTransport, checkName } from "./check-network.js";
import { fail, ok, warn, type Finding } from "./report.js";

/** Time limit for the HTTP response of the host under check. */
const responseTimeoutMs = 10_000;

interface CheckedHost {
  readonly host: string;
  readonly port: string | undefined;
  readonly isHttp: boolean;
  /** The worker that the daemon serves at this host. Undefined if the daemon serves no worker there. */
  readonly worker: string | undefined;
}

/** Maximum number of added hosts that `doctor` checks. */
const maximumCheckedHosts = 100;
/** Number of hosts that are checked at the same time. A small number limits the load on the name server. */
const concurrentChecks = 10;

/** Checks the DNS record and the certificate of each host that operators added. Yields one finding per host. */
export async function* checkAddedHosts(hosts: readonly string[], settings: Settings, port = 443): AsyncGenerator<Finding> {
  const checked = hosts.slice(0, maximumCheckedHosts);
  yield* Readable.from(checked).map((host: string) => checkAddedHost(host, settings, port), { concurrency: concurrentChecks });
  const rest = hosts.length - checked.length;
  if (rest > 0) yield warn("hosts", `${pluralize(rest, "more host name")} not checked`, "runtimectl hosts check HOST");
}

async function checkAddedHost(host: string, settings: Settings, port: number): Promise<Finding> {
  const check = `host:${host}`;
  if (isBelowLocalhost(host)) return ok(check, "browsers resolve names below localhost to this machine");
  try {
    const name = await checkName(host);
    const transport = await checkTransport(new URL(`https://${host}:${port}/`), { host, port }, settingsOf(host, settings));
    return { ...transport, check, message: `${name.message}; ${transport.message}` };
  } catch (error) {
    return fail(check, (error as Error).message, `runtimectl hosts check ${host}`);
  }
}

/** Returns the settings with the host as origin, because error messages contain the origin. */
function settingsOf(host: string, settings: Settings): Settings {
  return { ...settings, origin: { value: `https://${host}`, source: "hosts" } };
}

/**
 * Checks the steps of a request to a host in order: daemon, DNS, certificate, response of the worker. Stops after the first step that
 * fails.
 */
export async function checkHost({ host, port, isHttp, worker }: CheckedHost, settings: Settings): Promise<Finding[]> {
  const findings: Finding[] = [
    worker === undefined
      ? fail("host", `no worker of the daemon serves ${host}`, `runtimectl hosts add ${host} NAME`)
      : ok("host", `${host} leads to ${worker}`),
  ];
  const url = new URL(`${isHttp ? "http" : "https"}://${host}${port === undefined ? "" : `:${port}`}/`);
  const place = { host, port: Number(url.port) || (isHttp ? 80 : 443) };
  const steps: readonly (readonly [check: string, hint: string, run: () => Promise<Finding>])[] = [
    [
      "dns",
      `add a DNS record of ${host} for the daemon or its proxy`,
      () =>
        isBelowLocalhost(host) ? Promise.resolve(ok("dns", "browsers resolve names below localhost to this machine")) : checkName(host),
    ],
    ...(isHttp
      ? []
      : [
          [
            "tls",
            "configure the proxy with a certificate for the host",
            () => checkTransport(url, place, settingsOf(host, settings)),
          ] as const,
        ]),
    ["response", "check that the proxy passes the Host header on to the daemon", () => checkResponse(url, settings)],
  ];
  for (const [check, hint, run] of steps) {
    if (findings.at(-1)?.status === "fail") break;
    // oxlint-disable-next-line no-await-in-loop -- a later check needs the earlier one
    findings.push(await run().catch((error: unknown) => fail(check, (error as Error).message, hint)));
  }
  return findings;
}

async function checkResponse(url: URL, { certificateAuthorities: ca, insecure }: Settings): Promise<Finding> {
  const response = await get(url, { ...(ca === undefined ? {} : { ca }), rejectUnauthorized: !insecure });
  const { statusCode: status = 0, headers } = response;
  response.destroy();
  const isOurs = headers["x-request-id"] !== undefined;
  if (!isOurs)
    return fail("response", `status ${status}, from another server: X-Request-Id is missing`, "check the address of the DNS record");
  if (status >= 500 || status === 404 || status === 421) return fail("response", `status ${status}`, "runtimectl workers logs NAME");
  return ok("response", `status ${status}`);
}

function get(url: URL, options: RequestOptions): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(responseTimeoutMs);
    // Connects to 127.0.0.1 without DNS, because some resolvers do not resolve names below localhost (RFC 6761, section 6.3).
    const lookup = isBelowLocalhost(url.hostname) ? { hostname: "127.0.0.1", headers: { host: url.host } } : {};
    const call =
      url.protocol === "https:"
        ? requestSecurely(url, { ...options, ...lookup, signal }, resolve)
        : request(url, { ...lookup, signal }, resolve);
    call.once("error", reject).end();
  });
}

function isBelowLocalhost(host: string): boolean {
  return host.endsWith(".localhost");
}
