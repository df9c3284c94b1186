import { readFileSync } from "node:fs";
import path from "node:path";
import { parseDurationMs } from "../shared/duration.js";
import { isIsolatePermission, isolatePermissionForms } from "../shared/isolate-permission.js";
import { parseSizeBytes } from "../shared/size.js";
import { compiledFile } from "./package-root.js";

export interface Config {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  /** A listening socket handed over by systemd, which wins over host and port. */
  readonly listenFd: number | undefined;
  /** Path of the API, such as `/api` or `/_/api`. */
  readonly apiBase: string;
  readonly rootKey: string | undefined;
  readonly sessionTtlSeconds: number;
  readonly workerDirectories: readonly string[];
  readonly pluginDirectories: readonly string[];
  /** `workers` and `plugins` that the product ships. */
  readonly builtInDirectory: string;
  readonly stateDirectory: string;
  /** Refuse an upload whose code cannot be loaded. */
  readonly checkUploads: boolean;
  readonly limits: Limits;
  /** What manifests may ask for, and `network`. */
  readonly workerPermissions: readonly string[];
  /** Users that isolates run as when the daemon may switch; undefined = its own. */
  readonly workerUids: UidRange | undefined;
  readonly logLevel: string;
  readonly prettyLog: boolean;
}

/** Both included. */
export interface UidRange {
  readonly first: number;
  readonly last: number;
}

/** Bytes, except where the name says otherwise. */
export interface Limits {
  readonly maxUploadSizeBytes: number;
  readonly maxExpandedSizeBytes: number;
  readonly maxArchiveEntries: number;
  readonly maxBodySizeBytes: number;
  readonly maxJsonBodySizeBytes: number;
  /** Isolates at once. */
  readonly poolSize: number;
  readonly workerMemoryMaxBytes: number;
  /** What is kept of one worker's output, and of that of all. */
  readonly workerLogSizeBytes: number;
  readonly workerLogsTotalBytes: number;
}

/** A variable has a value that is not accepted; the message is one line for the operator. */
export class ConfigError extends Error {
  /** `value` is left out where it is a secret. */
  constructor(variable: string, value: string | undefined, takes: string) {
    super(`${variable}${value === undefined ? "" : `=${JSON.stringify(value)}`} is not accepted: it takes ${takes}.`);
    this.name = "ConfigError";
  }
}

/** One row of the configuration reference: what a variable is called, what it is when unset, what it means. */
export interface VariableDescription {
  readonly name: string;
  readonly fallback: string;
  readonly meaning: string;
}

/**
 * Every variable that the daemon reads. docs/reference/configuration.md is generated from this list.
 * @public
 */
export const variables: readonly VariableDescription[] = [
  { name: "HOST", fallback: "127.0.0.1", meaning: "Address to listen on." },
  {
    name: "PORT",
    fallback: "8000",
    meaning: "Port to listen on; `0` = any free port, the log names it. A socket handed over by systemd (`LISTEN_FDS`) wins.",
  },
  { name: "RUNTIME_API_PREFIX", fallback: "", meaning: "Prefix placed before `/api`, such as `/_`." },
  {
    name: "RUNTIME_ROOT_KEY",
    fallback: "",
    meaning: "The root key. Better: the systemd credential `root-key`, or `RUNTIME_ROOT_KEY_FILE`; both win over this.",
  },
  { name: "RUNTIME_ROOT_KEY_FILE", fallback: "", meaning: "File that holds the root key." },
  { name: "RUNTIME_CPANEL_SESSION_TTL", fallback: "24h", meaning: "Lifetime of the session cookie, such as `30m`, `2h`, `7d`." },
  {
    name: "RUNTIME_WORKER_DIRS",
    fallback: "./.runtime/workers",
    meaning: "Directories scanned for workers, separated by `:`. Uploads go to the first that is writable and does not start with a dot.",
  },
  { name: "RUNTIME_PLUGIN_DIRS", fallback: "./.runtime/plugins", meaning: "Directories scanned for plugins, separated by `:`." },
  { name: "RUNTIME_STATE_DIR", fallback: "./.runtime/state", meaning: "Directory of the key store; one daemon at a time." },
  { name: "RUNTIME_AUTH_DB_MODE", fallback: "local", meaning: "Where keys are kept; `local` is the only mode so far." },
  { name: "RUNTIME_MAX_UPLOAD_SIZE", fallback: "100mb", meaning: "Largest uploaded archive, as sent." },
  { name: "RUNTIME_MAX_EXPANDED_SIZE", fallback: "1gb", meaning: "Most bytes that an archive may unpack to." },
  { name: "RUNTIME_MAX_ARCHIVE_ENTRIES", fallback: "50000", meaning: "Most entries of an archive." },
  { name: "RUNTIME_MAX_BODY_SIZE", fallback: "100mb", meaning: "Ceiling of a worker's `maxBodySize`." },
  {
    name: "RUNTIME_CHECK_UPLOADS",
    fallback: "false",
    meaning: "`true`: an upload's code is loaded once before it takes the place of what is there, and refused when it cannot be.",
  },
  { name: "RUNTIME_POOL_SIZE", fallback: "500", meaning: "Worker isolates (processes) that may exist at once." },
  { name: "RUNTIME_WORKER_MEMORY_MAX", fallback: "1gb", meaning: "Ceiling of a worker's `memory`." },
  {
    name: "RUNTIME_WORKER_LOG_SIZE",
    fallback: "1mb",
    meaning: "What is kept in memory of a worker's output; its oldest entries go first.",
  },
  {
    name: "RUNTIME_WORKER_LOGS_TOTAL",
    fallback: "64mb",
    meaning: "What is kept of the output of all workers; the one that wrote least recently goes first.",
  },
  {
    name: "RUNTIME_WORKER_PERMISSIONS",
    fallback: "network",
    meaning:
      "What the `permissions` of manifests may ask for, separated by commas: `child-process`, `worker-threads`, `addons`, `wasi`, `inspector`, `fs-read:/path`, `fs-write:/path`. Without `network` workers cannot reach the network, where Node can enforce it.",
  },
  {
    name: "RUNTIME_WORKER_UIDS",
    fallback: "1900000000-1900009999",
    meaning:
      "User and group ids that isolates run under when the daemon is root, one for each isolate; `off` = the daemon's own. None of them may belong to anybody else.",
  },
  { name: "RUNTIME_LOG_LEVEL", fallback: "info", meaning: "`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`." },
];

/** A JSON body of the API is never larger. */
const maxJsonBodySizeBytes = 1024 * 1024;
const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"];
const booleans: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
]);
/** Browsers keep no cookie longer than 400 days. */
const maximumSessionTtlSeconds = 400 * 86_400;

const sendableKey = /^[\x20-\x7e]{1,512}$/;

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the configuration; throws ConfigError naming the variable and what it accepts. */
export function readConfig(environment: Environment, process: { pid: number; cwd: string; stdoutIsTerminal: boolean }): Config {
  const value = (name: string) => environment[name] || (variables.find((variable) => variable.name === name)?.fallback ?? "");
  const directories = (name: string) =>
    value(name)
      .split(":")
      .filter((entry) => entry !== "")
      .map((entry) => path.resolve(process.cwd, entry));
  const size = (name: string) =>
    accepted(name, value(name), "a size such as 64kb, 10mb, 1gb, or a number of bytes, above 0", parseSizeBytes(value(name)) || undefined);
  if (value("RUNTIME_AUTH_DB_MODE") !== "local") throw new ConfigError("RUNTIME_AUTH_DB_MODE", value("RUNTIME_AUTH_DB_MODE"), "local");
  return {
    host: value("HOST"),
    port: wholeNumber("PORT", value("PORT"), 0, 65_535),
    listenFd:
      Number(environment["LISTEN_FDS"] ?? 0) > 0 && (environment["LISTEN_PID"] ?? String(process.pid)) === String(process.pid)
        ? 3
        : undefined,
    apiBase: `${apiPrefix(value("RUNTIME_API_PREFIX"))}/api`,
    rootKey: readRootKey(environment),
    sessionTtlSeconds: sessionTtlSeconds(value("RUNTIME_CPANEL_SESSION_TTL")),
    workerDirectories: directories("RUNTIME_WORKER_DIRS"),
    pluginDirectories: directories("RUNTIME_PLUGIN_DIRS"),
    builtInDirectory: compiledFile("builtin"),
    stateDirectory: path.resolve(process.cwd, value("RUNTIME_STATE_DIR")),
    checkUploads: accepted(
      "RUNTIME_CHECK_UPLOADS",
      value("RUNTIME_CHECK_UPLOADS"),
      "true or false",
      booleans.get(value("RUNTIME_CHECK_UPLOADS")),
    ),
    limits: {
      maxUploadSizeBytes: size("RUNTIME_MAX_UPLOAD_SIZE"),
      maxExpandedSizeBytes: size("RUNTIME_MAX_EXPANDED_SIZE"),
      maxArchiveEntries: wholeNumber("RUNTIME_MAX_ARCHIVE_ENTRIES", value("RUNTIME_MAX_ARCHIVE_ENTRIES"), 1, 10_000_000),
      maxBodySizeBytes: size("RUNTIME_MAX_BODY_SIZE"),
      maxJsonBodySizeBytes,
      poolSize: wholeNumber("RUNTIME_POOL_SIZE", value("RUNTIME_POOL_SIZE"), 1, 100_000),
      workerMemoryMaxBytes: size("RUNTIME_WORKER_MEMORY_MAX"),
      workerLogSizeBytes: size("RUNTIME_WORKER_LOG_SIZE"),
      workerLogsTotalBytes: size("RUNTIME_WORKER_LOGS_TOTAL"),
    },
    workerPermissions: permissionList(value("RUNTIME_WORKER_PERMISSIONS")),
    workerUids: uidRange(value("RUNTIME_WORKER_UIDS")),
    logLevel: accepted(
      "RUNTIME_LOG_LEVEL",
      value("RUNTIME_LOG_LEVEL"),
      `one of ${logLevels.join(", ")}`,
      logLevels.find((level) => level === value("RUNTIME_LOG_LEVEL")),
    ),
    prettyLog: process.stdoutIsTerminal,
  };
}

function accepted<Value>(variable: string, text: string, takes: string, parsed: Value | undefined): Value {
  if (parsed === undefined) throw new ConfigError(variable, text, takes);
  return parsed;
}

function wholeNumber(variable: string, text: string, least: number, most: number): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return accepted(variable, text, `a whole number from ${least} to ${most}`, number >= least && number <= most ? number : undefined);
}

function permissionList(text: string): string[] {
  const permissions = text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  const areKnown = permissions.every((permission) => permission === "network" || isIsolatePermission(permission));
  return accepted(
    "RUNTIME_WORKER_PERMISSIONS",
    text,
    `a list, separated by commas, of: network, or ${isolatePermissionForms}`,
    areKnown ? permissions : undefined,
  );
}

/** Below 1000 are the system's own users. */
function uidRange(text: string): UidRange | undefined {
  if (text === "off") return undefined;
  const [, first, last] = /^(\d{4,10})-(\d{4,10})$/.exec(text) ?? [];
  const range = { first: Number(first), last: Number(last) };
  const isSound = range.first >= 1000 && range.first <= range.last && range.last <= 4_294_967_293;
  return accepted(
    "RUNTIME_WORKER_UIDS",
    text,
    "off, or a range of user ids from 1000 up, such as 200000-209999",
    isSound ? range : undefined,
  );
}

function apiPrefix(text: string): string {
  const isPrefix = text === "" || (/^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/.test(text) && !/^\/cpanel(?:\/|$)/.test(text));
  return accepted(
    "RUNTIME_API_PREFIX",
    text,
    "nothing, or a path such as /_ (a slash before each segment, none at the end, not below /cpanel)",
    isPrefix ? text : undefined,
  );
}

function sessionTtlSeconds(text: string): number {
  const seconds = Math.floor((parseDurationMs(text) ?? 0) / 1000);
  return accepted(
    "RUNTIME_CPANEL_SESSION_TTL",
    text,
    "a duration such as 30m, 2h, 7d, from 1s to 400d",
    seconds >= 1 && seconds <= maximumSessionTtlSeconds ? seconds : undefined,
  );
}

/** The root key, from the systemd credential, the file, or the variable; surrounding white space is no part of it. */
function readRootKey(environment: Environment): string | undefined {
  const credentials = environment["CREDENTIALS_DIRECTORY"];
  const file = environment["RUNTIME_ROOT_KEY_FILE"];
  const credential = credentials ? readKeyFile(path.join(credentials, "root-key"), undefined) : undefined;
  if (credential !== undefined) return rootKey("the systemd credential root-key", credential);
  if (file) return rootKey("RUNTIME_ROOT_KEY_FILE", readKeyFile(file, "RUNTIME_ROOT_KEY_FILE"));
  return rootKey("RUNTIME_ROOT_KEY", environment["RUNTIME_ROOT_KEY"]);
}

/** A key that no header could carry would refuse everybody without a word. */
function rootKey(source: string, text = ""): string | undefined {
  const key = text.trim();
  if (key === "") return undefined;
  if (!sendableKey.test(key)) throw new ConfigError(source, undefined, "a key of at most 512 printable ASCII characters, on one line");
  return key;
}

function readKeyFile(file: string, variable: string | undefined): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    if (variable === undefined) return undefined;
    throw new ConfigError(variable, file, `the path of a file that can be read (${(cause as NodeJS.ErrnoException).code})`);
  }
}
