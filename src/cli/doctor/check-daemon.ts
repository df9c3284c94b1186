import { ApiError } from "../../shared/api-error.js";
import { isRejectedKey } from "../config/rejected-key.js";
import { ready, type HealthCheck } from "../../shared/contract/health.js";
import { list as listHosts } from "../../shared/contract/hosts.js";
import * as session from "../../shared/contract/session.js";
import type { Context } from "../command/command.js";
import { connectAnonymously } from "../client/connection.js";
import { pluralize, endOn } from "../output/format.js";
import { describeFailure } from "../command/failure.js";
import type { Settings } from "../config/settings.js";
import { version } from "../version.js";
import { checkAddedHosts } from "./check-host.js";
import { fail, ok, warn, type Finding } from "./report.js";

const clockWarningSeconds = 30;
const keyWarningDays = 14;

/**
 * Checks discovery, versions, clock, readiness, origin, key, and the DNS and certificates of added hosts. If the server is not a runtimed
 * daemon, stops after discovery.
 */
export async function* checkDaemon(context: Context, settings: Settings): AsyncGenerator<Finding> {
  // Requests the discovery document without the key, because the server could be another program. Disables read-only mode for the DELETE
  // request of the check `origin`, which changes no data.
  const withoutKey = { ...settings, key: undefined, isReadOnly: false };
  const discovery = await attempt("discovery", async () => {
    const anonymous = await connectAnonymously(context, {}, withoutKey);
    const { name, api, version: daemonVersion } = await anonymous.discover();
    return { found: { anonymous, api, daemonVersion }, finding: ok("discovery", `${name} ${daemonVersion}, API path ${api}`) };
  });
  yield discovery.finding;
  if (discovery.found === undefined) return;
  const { anonymous, api, daemonVersion } = discovery.found;
  yield checkVersions(daemonVersion);
  const send = (method: string, path: string) => anonymous.call({ method, path, headers: {} });
  yield (await attempt("clock", async () => ({ finding: checkClock((await send("GET", "/.well-known/runtime")).headers["date"]) })))
    .finding;
  const signIn = () =>
    connectAnonymously(context, { health: { ready }, session: { show: session.show }, hosts: { list: listHosts } }, settings);
  const readiness = await attempt("api", async () => {
    const { status, checks } = await (await signIn()).client.health.ready({ query: { verbose: "1" } });
    return { found: checks, finding: ok("api", status) };
  });
  yield readiness.finding;
  const checks = readiness.found ?? [];
  yield* checks.filter(({ name }) => name.startsWith("isolation:")).map(checkIsolation);
  yield* checks.flatMap(warningOf);
  yield* checks
    .filter(({ name, status }) => name === "package-store" && status === "ok")
    .map(({ name }) => ok(name, "the registry responds"));
  yield* checks.filter(({ name }) => name === "secrets-key").map(checkSecretsKey);
  // Sends a sign-out without a credential, which ends no session. Only the daemon's check of the Origin header decides about the response.
  yield (await attempt("origin", async () => ({ finding: checkOrigin(settings, await send("DELETE", `${api}/admin/session`)) }))).finding;
  const key = await attempt("key", async () => ({
    finding: await checkKey(settings, async () => (await signIn()).client.session.show()),
  }));
  yield key.finding;
  if (settings.key === undefined || key.finding.status === "fail" || settings.proxy) return;
  yield* checkAddedHosts(await addedHosts(async () => (await signIn()).client.hosts.list()), settings);
}

/**
 * Returns the hosts that operators added. Empty if the key lacks the permission workers:read, or if the daemon does not support host names.
 */
async function addedHosts(list: () => Promise<{ readonly hosts: readonly { readonly host: string }[] }>): Promise<readonly string[]> {
  try {
    return (await list()).hosts.map(({ host }) => host);
  } catch (error) {
    if (error instanceof ApiError) return [];
    throw error;
  }
}

/** Runs a check and returns its result. If the check throws, returns a finding with the error. */
async function attempt<Found extends { readonly finding: Finding }>(
  check: string,
  run: () => Promise<Found>,
): Promise<Found | { readonly finding: Finding; readonly found?: undefined }> {
  try {
    return await run();
  } catch (error) {
    const { message, hint } = describeFailure(error);
    return { finding: fail(check, message, hint ?? "check the logs of the daemon and of the proxy in front of it") };
  }
}

/** Returns the finding about one isolation layer, such as Landlock. */
function checkIsolation({ name, status, message = status }: HealthCheck): Finding {
  if (status === "ok") return ok(name, message);
  return warn(
    name,
    `not available: ${message}`,
    "other layers still isolate workers; with RUNTIME_ISOLATION=strict, the daemon refuses to start without Landlock and seccomp",
  );
}

/** Returns the finding about the key that encrypts secrets: the location of this key, or the problem with it. */
function checkSecretsKey({ name, status, message = status }: HealthCheck): Finding {
  return status === "ok" ? ok(name, message) : warn(name, message, "see docs/how-to/environment-and-secrets.md");
}

/** Hints for readiness checks, by name of the check. Except for `package-store`, `doctor` shows these checks only if they fail. */
const fixes: Readonly<Record<string, string>> = {
  "panel-origin": "set the variable and restart the daemon",
  "plugin-uploads": "set the variable and restart the daemon",
  "package-store":
    "start the registry, check its credential, or replace a package that is lost or fails to load: runtimectl deploy --replace",
  "key-store": "check the primary of the key store; if it was restored or emptied: runtimectl daemon resync --help",
  "disk-space": "delete packages, logs or other files on this file system, or enlarge it",
  "worker-data": "delete files through the worker, or deploy a version with a larger `data`; see runtimectl data list",
};

/**
 * Returns a finding if a readiness check with a hint in `fixes` fails. These checks concern settings that let keys exceed their
 * permissions, the package store, full data folders and free disk space.
 */
function warningOf({ name, status, message = status }: HealthCheck): Finding[] {
  const fix = fixes[name];
  return fix === undefined || status === "ok" ? [] : [warn(name, message, fix)];
}

function checkVersions(daemonVersion: string): Finding {
  if (daemonVersion === version) return ok("versions", `runtimectl and daemon ${version}`);
  return warn("versions", `runtimectl ${version}, daemon ${daemonVersion}`, "use the runtimectl version of the daemon");
}

function checkClock(date: string | string[] | undefined): Finding {
  const theirs = Date.parse(String(date));
  if (Number.isNaN(theirs)) return warn("clock", "the response has no Date header", "configure the proxy to keep the Date header");
  const skewSeconds = Math.round(Math.abs(Date.now() - theirs) / 1000);
  if (skewSeconds <= clockWarningSeconds) return ok("clock", "matches the clock of the daemon");
  return warn(
    "clock",
    `differs from the clock of the daemon by ${pluralize(skewSeconds, "second")}`,
    "synchronize the clocks: the expiry of keys and certificates depends on them",
  );
}

function checkOrigin({ origin }: Settings, { status, text }: { readonly status: number; readonly text: string }): Finding {
  if (status === 204) return ok("origin", `the daemon accepts the origin ${origin.value}`);
  const message = /"message":"([^"]+)"/.exec(text)?.[1] ?? `status ${status}`;
  return fail("origin", message, "configure the proxy to forward the Host header, or use the daemon's own URL");
}

async function checkKey(
  settings: Settings,
  show: () => Promise<{ principal: { name: string; role: string; expiresAt?: number | undefined } }>,
): Promise<Finding> {
  if (settings.key === undefined) return warn("key", settings.keyWithheld ?? "not signed in", "runtimectl auth login");
  try {
    const { name, role, expiresAt } = (await show()).principal;
    const who = `${name}, ${role} (${settings.key.source})`;
    if (expiresAt === undefined) return ok("key", who);
    const isEnding = expiresAt - Date.now() / 1000 < keyWarningDays * 24 * 60 * 60;
    const message = `${who}, expires ${endOn(expiresAt, Date.now())}`;
    return isEnding ? warn("key", message, "request a new key, or create one with: runtimectl keys create") : ok("key", message);
  } catch (error) {
    if (!isRejectedKey(error)) throw error;
    return fail("key", error.message, error.hint ?? "runtimectl auth login");
  }
}
