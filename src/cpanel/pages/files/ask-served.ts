import { ApiError } from "../../../shared/api-error.js";
import type { ClientOf } from "../../../shared/client.js";
import * as plugins from "../../../shared/contract/plugins.js";
import { logs, type LogEntry } from "../../../shared/contract/worker-logs.js";
import { list } from "../../../shared/contract/workers.js";
import { toPathSegments } from "../../../shared/package-name.js";
import { installedVersions } from "../../../shared/worker-versions.js";
import type { Folder } from "./package-ref.js";

export const servedOperations = { workers: { list, logs }, plugins: { list: plugins.list } };

/** Longest wait for a worker's response, cold start included, before the panel reports a failure. */
const longestAnswerMs = 10_000;
/** More than one: the daemon writes its own log entry after the error that the code threw. */
const newestEntries = 5;

/** Matches file, line and column in the daemon's message. The log uses a different format. */
const place = /:\d+:\d+: /;

/** The state of a package after a change of its files. */
export interface Served {
  /** Text for the user, such as `shop 1.0.0 answers 200`. */
  readonly text: string;
  /** Why it is not served; undefined when it is. */
  readonly failure: string | undefined;
}

interface AskOptions {
  readonly client: ClientOf<typeof servedOperations>;
  /** Prefix of app addresses; the browser requests only its own origin. */
  readonly servedAt: string;
  readonly fetch: typeof fetch;
}

/** Requests the version whose files were changed, or the state of the plugin. Returns undefined when the browser cannot send this request. */
export async function askServed(folder: Folder, options: AskOptions): Promise<Served | undefined> {
  return folder.of.kind === "plugins" ? askPlugin(folder.of.name, options) : askWorker(folder, options);
}

async function askPlugin(name: string, { client }: AskOptions): Promise<Served | undefined> {
  const plugin = (await client.plugins.list()).find((listed) => listed.name === name);
  if (!plugin) return undefined;
  if (plugin.status === "failed") return { text: `${name} failed to load`, failure: plugin.error ?? "The daemon's log has the reason." };
  return { text: `${name} is ${plugin.status}`, failure: undefined };
}

async function askWorker({ of: { name }, path }: Folder, { client, servedAt, fetch }: AskOptions): Promise<Served | undefined> {
  // `<mount>/<name>/<version>`
  const version = path.split("/")[1 + name.split("/").length];
  if (version === undefined || servedAt.includes("//")) return undefined;
  const listed = installedVersions((await client.workers.list()).filter((worker) => worker.name === name));
  const label = `${name} ${version}`;
  if (listed.find((installed) => installed.version === version)?.enabled !== true) return { text: `${label} is off`, failure: undefined };
  const entriesBefore = await errorsOf(client, name, version);
  const init = { credentials: "omit", cache: "no-store", redirect: "manual", signal: AbortSignal.timeout(longestAnswerMs) } as const;
  let response: Response;
  try {
    response = await fetch(`${servedAt}/${name}@${version}/`, init);
  } catch (error) {
    const isLate = error instanceof Error && error.name === "TimeoutError";
    return { text: `${label} does not answer`, failure: isLate ? "There was no response within 10 s." : "The connection was closed." };
  }
  if (response.type === "opaqueredirect") return { text: `${label} answers with a redirect`, failure: undefined };
  const text = `${label} answers ${response.status}`;
  if (response.status < 500) return { text, failure: undefined };
  const ofDaemon = daemonErrorIn(await response.text().catch(() => ""));
  if (!ofDaemon) return { text, failure: "The worker itself sent this response. Its log can contain the reason." };
  if (place.test(ofDaemon)) return { text, failure: ofDaemon };
  return { text, failure: thrownIn(await errorsOf(client, name, version), entriesBefore.at(-1)?.id ?? 0) ?? ofDaemon };
}

/** Returns the message of an error response of the daemon. */
function daemonErrorIn(body: string): string | undefined {
  try {
    const { error } = JSON.parse(body) as { error?: { code?: unknown; message?: unknown } };
    return typeof error?.code === "string" && typeof error.message === "string" ? error.message : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the newest errors in the version's log, oldest first; none without the permission. */
async function errorsOf(client: AskOptions["client"], name: string, version: string): Promise<readonly LogEntry[]> {
  try {
    const query = { version, level: "error", limit: newestEntries } as const;
    return (await client.workers.logs({ params: toPathSegments(name), query })).entries;
  } catch (error) {
    if (error instanceof ApiError) return [];
    throw error;
  }
}

/** Returns the error that the code threw after the entry with this id, with file and line. */
function thrownIn(entries: readonly LogEntry[], since: number): string | undefined {
  const thrown = entries.findLast(({ id, source }) => source === "app" && id > since);
  // Frames of Node do not help to find the changed line.
  return thrown?.text.replaceAll(/\n +at [^\n]*\bnode:[^\n]*/g, "");
}
