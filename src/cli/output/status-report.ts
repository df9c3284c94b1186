import { ApiError } from "../../shared/api-error.js";
import { factLines, type Facts } from "./table.js";
import { ready } from "../../shared/contract/health.js";
import * as keys from "../../shared/contract/keys.js";
import { show as showMetrics } from "../../shared/contract/metrics.js";
import * as plugins from "../../shared/contract/plugins.js";
import { show } from "../../shared/contract/session.js";
import * as workers from "../../shared/contract/workers.js";
import type { Context } from "../command/command.js";
import { connectOnDemand, type Connection } from "../client/connection.js";
import { pluralize, timeFields, endOn, toRate } from "./format.js";
import { signInCommand } from "../config/sign-in-command.js";
import { uploadedWorkers } from "../uploaded-workers.js";
import { setTimeout as wait } from "node:timers/promises";
import { exitCodes } from "../command/exit-codes.js";
import { describeFailure } from "../command/failure.js";

const operations = {
  health: { ready },
  session: { show },
  workers: { list: workers.list },
  plugins: { list: plugins.list },
  metrics: { show: showMetrics },
  keys: { list: keys.list },
};
const intervalMs = 2000;

export type StatusConnection = Connection<typeof operations>;

export interface StatusReport {
  readonly document: { readonly url: string; readonly ready: boolean; readonly readiness: string; readonly load: object | null };
  readonly facts: Facts;
}

export function connectForStatus(context: Context): Promise<StatusConnection> {
  return connectOnDemand(context, operations);
}

/** Returns the health of the daemon, and all further data that the key is allowed to read. */
export async function readStatus(connection: StatusConnection): Promise<StatusReport> {
  const { client, origin, settings } = connection;
  const { version } = await connection.discover();
  const readiness = await readinessOf(connection);
  const principal = settings.key && (await client.session.show()).principal;
  const mayRead = (noun: "workers" | "plugins" | "keys") => principal?.permissions.includes(`${noun}:read`) ?? false;
  const installed = mayRead("workers") ? uploadedWorkers(await client.workers.list()) : undefined;
  const load = installed && (await ifKnown(client.metrics.show({ query: { detail: "totals" } })));
  const installedPlugins = mayRead("plugins") ? await ifKnown(client.plugins.list()) : undefined;
  const failedCount = installedPlugins?.filter(({ status }) => status === "failed").length ?? 0;
  const active = mayRead("keys") ? (await client.keys.list()).keys : undefined;
  const versions = installed?.reduce((sum, worker) => sum + worker.versions.length, 0);
  const { expiresAt, ...shown } = principal ?? {};
  return {
    document: {
      url: origin,
      profile: settings.profile?.value ?? null,
      version,
      ready: readiness === "ready",
      readiness,
      principal: principal ? { ...shown, ...timeFields("expiresAt", expiresAt) } : null,
      workers: installed?.length ?? null,
      workerVersions: versions ?? null,
      plugins: installedPlugins?.length ?? null,
      failedPlugins: installedPlugins ? failedCount : null,
      keys: active?.length ?? null,
      load: load ? { uptimeSeconds: load.daemon.uptimeSeconds, ...load.totals } : null,
    } as StatusReport["document"],
    facts: [
      ["daemon", `${origin}${settings.isProduction ? "  PRODUCTION" : ""}`],
      ["version", version],
      ["health", readiness],
      ["signed in", principal ? `${principal.name}, ${principal.role}` : `no; to sign in: ${signInCommand(settings)}`],
      ...fact("key expires", principal && (expiresAt === undefined ? "never" : endOn(expiresAt, Date.now()))),
      ...fact("workers", installed && `${installed.length} (${pluralize(versions ?? 0, "version")})`),
      ...fact("plugins", installedPlugins && `${installedPlugins.length}${failedCount > 0 ? ` (${failedCount} failed)` : ""}`),
      ...fact(
        "load",
        load && `${toRate(load.totals.requests.perSecond)} requests/s, ${pluralize(load.totals.isolates.running, "isolate")}`,
      ),
      ...fact("keys", active && String(active.length)),
    ],
  };
}

/** Returns the report for an unreachable daemon. */
function statusWithoutAnswer({ origin, settings }: StatusConnection, reason: string): StatusReport {
  return {
    document: {
      url: origin,
      profile: settings.profile?.value ?? null,
      ready: false,
      readiness: reason,
      load: null,
    } as StatusReport["document"],
    facts: [
      ["daemon", origin],
      ["health", reason],
    ],
  };
}

function fact(name: string, value: string | undefined): readonly (readonly [string, string])[] {
  return value === undefined ? [] : [[name, value]];
}

/** Returns the result of an API call. Undefined for the error NOT_FOUND, because older daemons do not have the operation. */
async function ifKnown<Answer>(asked: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiError && error.code === "NOT_FOUND") return undefined;
    throw error;
  }
}

/** Returns `ready`, or the reason that the daemon gives for not being ready. */
async function readinessOf({ client }: StatusConnection): Promise<string> {
  try {
    return (await client.health.ready()).status;
  } catch (error) {
    if (error instanceof ApiError && error.code === "NOT_READY") return error.message;
    throw error;
  }
}

/**
 * Prints the status after each change of the daemon, until the user interrupts the command. On a terminal, each output overwrites the
 * previous one.
 */
export async function watchStatus({ output, signal, terminal }: Context, connection: StatusConnection): Promise<void> {
  let seen: string | undefined;
  let shownLineCount = 0;
  while (!signal.aborted) {
    const report = await statusNow(connection, signal);
    if (report === undefined) return;
    const text = factLines(report.facts, output.layout);
    const change = output.isJson ? JSON.stringify({ ...report.document, load: null }) : text;
    if (change !== seen) {
      const redraw = terminal.stdoutIsTty && shownLineCount > 0 ? `\x1b[${shownLineCount}A\x1b[J` : "";
      output.line(report.document, redraw + (terminal.stdoutIsTty ? text : `${text}\n`));
      [seen, shownLineCount] = [change, text.split("\n").length];
    }
    await wait(intervalMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Returns the status report, also for an unreachable daemon. Undefined if the user interrupted the command. */
async function statusNow(connection: StatusConnection, signal: AbortSignal): Promise<StatusReport | undefined> {
  try {
    return await readStatus(connection);
  } catch (error) {
    if (signal.aborted) return undefined;
    const { exitCode, message } = describeFailure(error);
    if (exitCode !== exitCodes.unavailable) throw error;
    return statusWithoutAnswer(connection, message);
  }
}
