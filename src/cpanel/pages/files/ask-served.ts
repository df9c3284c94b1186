import { ApiError } from "../../../shared/api-error.js";
import { daemonErrorIn } from "../../../shared/daemon-error.js";
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
/**
 * Number of error entries to read from the log of a worker. Greater than 1, because the daemon logs its own entry after the error that the
 * worker threw.
 */
const newestEntries = 5;

/** Matches `:LINE:COLUMN: ` in an error message of the daemon. Log entries use another format. */
const place = /:\d+:\d+: /;

/** State of a package after a change of its files. */
export interface Served {
  /** The state as text for the user, such as `shop 1.0.0 answers 200`. */
  readonly text: string;
  /** Reason why the package is not served. Undefined if the package is served. */
  readonly failure: string | undefined;
  /**
   * Whether the daemon no longer lists the version, for example after a change of the name in the manifest. The page of the app can then
   * close.
   */
  readonly isGone?: boolean;
}

interface AskOptions {
  readonly client: ClientOf<typeof servedOperations>;
  /** Prefix of app URLs. If the prefix names another origin, the panel does not request the app. */
  readonly servedAt: string;
  readonly fetch: typeof fetch;
}

/**
 * Sends a request to the changed worker version, or reads the state of the changed plugin. Returns undefined if the panel cannot check the
 * package.
 */
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
  // The path of a version folder is `<package directory>/<name>/<version>`.
  const version = path.split("/")[1 + name.split("/").length];
  if (version === undefined || servedAt.includes("//")) return undefined;
  const listed = installedVersions((await client.workers.list()).filter((worker) => worker.name === name));
  const label = `${name} ${version}`;
  const installed = listed.find((candidate) => candidate.version === version);
  if (!installed) {
    const failure = `The manifest in ${path} describes another name or version. Requests to /${name}@${version}/ get 404.`;
    return { text: `${label} is no longer installed`, failure, isGone: true };
  }
  if (!installed.enabled) return { text: `${label} is off`, failure: undefined };
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

/** Returns the newest error entries in the log of a version, oldest first. Returns no entries if the daemon rejects the call. */
async function errorsOf(client: AskOptions["client"], name: string, version: string): Promise<readonly LogEntry[]> {
  try {
    const query = { version, level: "error", limit: newestEntries } as const;
    return (await client.workers.logs({ params: toPathSegments(name), query })).entries;
  } catch (error) {
    if (error instanceof ApiError) return [];
    throw error;
  }
}

/**
 * Returns the newest error that the code of the worker threw after the log entry with the id `since`. Contains the file and line of the
 * error.
 */
function thrownIn(entries: readonly LogEntry[], since: number): string | undefined {
  const thrown = entries.findLast(({ id, source }) => source === "app" && id > since);
  // Ignores stack frames inside Node.js, because they do not show the faulty line.
  return thrown?.text.replaceAll(/\n +at [^\n]*\bnode:[^\n]*/g, "");
}
