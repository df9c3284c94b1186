import { ApiError } from "../../shared/api-error.js";
import { ready } from "../../shared/contract/health.js";
import { show as showMetrics } from "../../shared/contract/metrics.js";
import * as keys from "../../shared/contract/keys.js";
import * as plugins from "../../shared/contract/plugins.js";
import { show } from "../../shared/contract/session.js";
import * as workers from "../../shared/contract/workers.js";
import { defineCommand } from "../command.js";
import { connectAnonymously, type Connection } from "../connection.js";
import { counted } from "../counted.js";
import { timeFields, toDay } from "../dates.js";
import { toRate } from "../figures.js";
import { exitCodes } from "../exit-codes.js";

export const command = defineCommand<[]>({
  examples: [
    ["runtimectl status", "health, version, who I am, what is installed"],
    ["runtimectl status --json | jq .ready", "for monitoring"],
  ],
  notes: "Works without a key, and then says less. Ends with 8 when the daemon is not ready.",
  async run(context) {
    const connection = await connectAnonymously(context, {
      health: { ready },
      session: { show },
      workers: { list: workers.list },
      plugins: { list: plugins.list },
      metrics: { show: showMetrics },
      keys: { list: keys.list },
    });
    const { version } = await connection.discover();
    const readiness = await readinessOf(connection);
    const principal = connection.settings.key && (await connection.client.session.show()).principal;
    const installed = principal?.permissions.includes("workers:read") ? await connection.client.workers.list() : undefined;
    const load = installed && (await ifKnown(connection.client.metrics.show({ query: { detail: "totals" } })));
    const installedPlugins = principal?.permissions.includes("plugins:read") ? await ifKnown(connection.client.plugins.list()) : undefined;
    const failedCount = installedPlugins?.filter(({ status }) => status === "failed").length ?? 0;
    const active = principal?.permissions.includes("keys:read") ? (await connection.client.keys.list()).keys : undefined;
    const versions = installed?.reduce((sum, worker) => sum + worker.versions.length, 0);
    const { origin, settings } = connection;
    const { expiresAt, ...shown } = principal ?? {};
    context.output.result(
      {
        url: origin,
        profile: settings.profile?.value ?? null,
        version,
        ready: readiness === "ready",
        readiness,
        principal: principal
          ? {
              ...shown,
              ...timeFields("expiresAt", expiresAt),
            }
          : null,
        workers: installed?.length ?? null,
        workerVersions: versions ?? null,
        plugins: installedPlugins?.length ?? null,
        failedPlugins: installedPlugins ? failedCount : null,
        keys: active?.length ?? null,
        load: load ? { uptimeSeconds: load.daemon.uptimeSeconds, ...load.totals } : null,
      },
      [
        `daemon       ${origin}${settings.isProduction ? "  PRODUCTION" : ""}`,
        `version      ${version}`,
        `health       ${readiness}`,
        `signed in    ${principal ? `${principal.name}, ${principal.role}` : "no"}`,
        ...(principal ? [`key ends     ${expiresAt === undefined ? "never" : toDay(expiresAt)}`] : []),
        ...(installed ? [`workers      ${installed.length} (${counted(versions ?? 0, "version")})`] : []),
        ...(installedPlugins ? [`plugins      ${installedPlugins.length}${failedCount > 0 ? ` (${failedCount} failed)` : ""}`] : []),
        ...(load
          ? [`load         ${toRate(load.totals.requests.perSecond)} requests/s, ${counted(load.totals.isolates.running, "isolate")}`]
          : []),
        ...(active ? [`keys         ${active.length}`] : []),
      ].join("\n"),
    );
    if (readiness !== "ready") process.exitCode = exitCodes.unavailable;
  },
});

/** Undefined when the daemon is older than what it was asked for. */
async function ifKnown<Answer>(asked: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiError && error.code === "NOT_FOUND") return undefined;
    throw error;
  }
}

/** `ready`, or what the daemon says keeps it from that. */
async function readinessOf({ client }: Connection<{ health: { ready: typeof ready } }>): Promise<string> {
  try {
    return (await client.health.ready()).status;
  } catch (error) {
    if (error instanceof ApiError && error.code === "NOT_READY") return error.message;
    throw error;
  }
}
