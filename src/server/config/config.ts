import { isIP } from "node:net";
import { pluginUploadModes, valueOf, type PluginUploadMode, type Environment } from "./config-variables.js";
import { parseDurationMs } from "../../shared/duration.js";
import { isIsolatePermission, isolatePermissionForms } from "../../shared/isolate-permission.js";
import { parseSizeBytes } from "../../shared/size.js";
import { accepted, commaSeparated } from "./config-values.js";
import type { AllowedHosts } from "../web/allowed-hosts.js";
import { readDirectories, type Directories } from "./directories.js";
import { describeVariables } from "./effective-variables.js";
import type { SettingsVariable } from "../../shared/contract/settings.js";
import { readRequestHosts, type HostSuffix } from "./request-hosts.js";
import type { PanelHost } from "../web/panel-host.js";
import { compiledFile } from "../package-root.js";
import { readRootKeyOrOwn, type RootKeyFile } from "./root-key.js";
import { readPrimary, type PrimarySource } from "./primary-source.js";
import { readInstanceName } from "./instance.js";
import { readPackageSource, type PackageSource } from "./package-source.js";
import { readServiceEnvironment, type ServiceEnvironment } from "./service-environment.js";
import { secretsKeySource, type SecretsKeySource } from "./secrets-key.js";
import { networkTargetForms, parseNetworkTarget } from "../../shared/network-target.js";
import { networkModes, type NetworkCeilingOptions, type NetworkMode } from "./worker-network.js";

/**
 * Matches a host name whose labels contain letters, digits, hyphens and underscores. The last label must not be a number, because the name
 * is then probably a misspelled IPv4 address.
 */
const hostNamePattern = /^(?:[\w-]{1,63}\.)*(?!\d+$)\w(?:[\w-]{0,61}\w)?\.?$/;

export interface Config extends Directories {
  /** Addresses of the main listener: `HOST`, or both loopback addresses. */
  readonly hosts: readonly string[];
  /** Port of the main listener. 0 selects any free port. */
  readonly port: number;
  /** Addresses and port of a separate listener for the API and the panel. If undefined, the main listener also serves both. */
  readonly adminListener: { readonly hosts: readonly string[]; readonly port: number } | undefined;
  /** The only host name at which an operator can sign in to the panel. If undefined, every host name is possible. */
  readonly panelHost: PanelHost | undefined;
  /** Host names that the daemon accepts in requests. If undefined, the daemon accepts every host name. */
  readonly allowedHosts: AllowedHosts | undefined;
  /** Domain of the automatic host names of workers. If undefined, workers have no automatic host names. */
  readonly appDomain: string | undefined;
  readonly hostSuffixes: readonly HostSuffix[];
  /** Host names at which the first path segment selects the worker. An automatic host name with the same text has no effect. */
  readonly ownHostNames: ReadonlySet<string>;
  /** Public URL of the workers, without a trailing slash. */
  readonly publicUrl: string | undefined;
  readonly service: ServiceEnvironment;
  /** Base path of the API, such as `/api` or `/_/api`. */
  readonly apiBase: string;
  readonly rootKey: string | undefined;
  /** File with the root key, which the daemon reads again at a reload. Undefined if an environment variable contains the key. */
  readonly rootKeyFile: RootKeyFile | undefined;
  readonly sessionTtlSeconds: number;
  /** Folder that contains the built-in workers and plugins. */
  readonly builtInDirectory: string;
  /** True if the daemon serves the panel. */
  readonly servesPanel: boolean;
  /** Database server that contains the keys of several daemons. If undefined, the keys are in the state directory. */
  readonly primary: PrimarySource | undefined;
  /** Name of this daemon among the daemons with the same primary. */
  readonly instanceName: string;
  /** Origin at which the other daemons with the same primary call this one. If undefined, they cannot call it. */
  readonly instanceUrl: string | undefined;
  /** OCI registry that contains the packages of several daemons. If undefined, the worker and plugin directories contain all packages. */
  readonly packageSource: PackageSource | undefined;
  /** The file with the keys that the daemon uses to encrypt the secrets of workers. */
  readonly secretsKey: SecretsKeySource;
  /** True if the daemon loads the code of every upload and rejects an upload whose code fails to load. */
  readonly checkUploads: boolean;
  readonly limits: Limits;
  /** Permissions of Node.js that manifests are allowed to request, and `network`. */
  readonly workerPermissions: readonly string[];
  readonly pluginUploads: PluginUploadMode;
  /** Addresses that workers can connect to. If the mode is undefined, the daemon reads the mode from its state directory. */
  readonly workerNetwork: Omit<NetworkCeilingOptions, "mode"> & { readonly mode: NetworkMode | undefined };
  /** True if the daemon must not start on a kernel that cannot restrict isolates. */
  readonly requiresSandbox: boolean;
  /** User ids for isolates. If undefined, or if the daemon cannot switch users, isolates run as the daemon's user. */
  readonly workerUids: UidRange | undefined;
  readonly auditLog: AuditLogLimits;
  readonly logLevel: string;
  readonly prettyLog: boolean;
  /** The environment variables with their values in effect. Secrets have no value. */
  readonly variables: readonly SettingsVariable[];
}

/** Maximum size in bytes of one audit log file, and the number of files that the daemon keeps. */
export interface AuditLogLimits {
  readonly fileBytes: number;
  readonly keptFiles: number;
}

/** A range of user ids from `first` to `last`, including both. */
export interface UidRange {
  readonly first: number;
  readonly last: number;
}

/** Limits of the daemon. A number is in bytes unless its name contains another unit. */
export interface Limits {
  readonly maxUploadSizeBytes: number;
  readonly maxExpandedSizeBytes: number;
  readonly maxArchiveEntries: number;
  readonly maxBodySizeBytes: number;
  readonly maxJsonBodySizeBytes: number;
  /** Maximum number of isolates that run at the same time. */
  readonly poolSize: number;
  readonly workerMemoryMaxBytes: number;
  /** Maximum size of a worker's data folder, and of an isolate's temporary folder. */
  readonly workerDataMaxBytes: number;
  readonly workerTemporaryMaxBytes: number;
  /**
   * While a worker streams a body and other workers receive requests, all streamed bodies together stay below this rate, in bytes per
   * second for each processor.
   */
  readonly sharedStreamRateBytes: number;
  /** Maximum sizes of worker logs in bytes: of one worker in memory, of one worker on the disk, and of all workers in memory. */
  readonly workerLogSizeBytes: number;
  readonly logRetentionSizeBytes: number;
  readonly workerLogsTotalBytes: number;
  /** Maximum size in bytes of the metrics history in memory. 0 disables the history. */
  readonly metricsHistorySizeBytes: number;
}

/** Maximum size of a JSON body in an API request. */
const maxJsonBodySizeBytes = 1024 * 1024;
const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"];
const booleans: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
]);
const switches: ReadonlyMap<string, boolean> = new Map([
  ["on", true],
  ["off", false],
]);
const isolationModes: ReadonlyMap<string, boolean> = new Map([
  ["strict", true],
  ["available", false],
]);
/** Maximum lifetime of a session, in seconds. Browsers delete cookies after 400 days. */
const maximumSessionTtlSeconds = 400 * 86_400;

/** Reads the configuration from the environment. Throws a ConfigError that names the invalid variable and its accepted values. */
export function readConfig(environment: Environment, process: { pid: number; cwd: string; stdoutIsTerminal: boolean }): Config {
  const value = (name: string) => valueOf(environment, name);
  const directories = readDirectories(environment, process.cwd);
  const size = (name: string) => sizeAboveZero(name, value(name));
  return {
    hosts: hostsOf("HOST", environment["HOST"]),
    port: wholeNumber("PORT", value("PORT"), 0, 65_535),
    adminListener: adminListener(value("RUNTIME_ADMIN_HOST"), value("RUNTIME_ADMIN_PORT")),
    ...readRequestHosts(value),
    service: readServiceEnvironment(environment, process),
    apiBase: `${apiPrefix(value("RUNTIME_API_PREFIX"))}/api`,
    ...readRootKeyOrOwn(environment, directories.stateDirectory),
    sessionTtlSeconds: sessionTtlSeconds(value("RUNTIME_CPANEL_SESSION_TTL")),
    ...directories,
    primary: readPrimary(environment, value),
    instanceName: readInstanceName(value("RUNTIME_INSTANCE_NAME")),
    packageSource: readPackageSource(environment, value),
    secretsKey: secretsKeySource(environment, { cwd: process.cwd, stateDirectory: directories.stateDirectory }),
    builtInDirectory: compiledFile("builtin"),
    servesPanel: accepted("RUNTIME_CPANEL", value("RUNTIME_CPANEL"), "on or off", switches.get(value("RUNTIME_CPANEL"))),
    checkUploads: accepted(
      "RUNTIME_CHECK_UPLOADS",
      value("RUNTIME_CHECK_UPLOADS"),
      "true or false",
      booleans.get(value("RUNTIME_CHECK_UPLOADS")),
    ),
    limits: {
      maxUploadSizeBytes: size("RUNTIME_MAX_UPLOAD_SIZE"),
      ...readArchiveLimits(environment),
      maxBodySizeBytes: size("RUNTIME_MAX_BODY_SIZE"),
      maxJsonBodySizeBytes,
      poolSize: wholeNumber("RUNTIME_POOL_SIZE", value("RUNTIME_POOL_SIZE"), 1, 100_000),
      workerMemoryMaxBytes: size("RUNTIME_WORKER_MEMORY_MAX"),
      workerDataMaxBytes: size("RUNTIME_WORKER_DATA_MAX"),
      workerTemporaryMaxBytes: size("RUNTIME_WORKER_TMP_MAX"),
      sharedStreamRateBytes: size("RUNTIME_SHARED_STREAM_RATE"),
      workerLogSizeBytes: size("RUNTIME_WORKER_LOG_SIZE"),
      logRetentionSizeBytes: size("RUNTIME_LOG_RETENTION"),
      workerLogsTotalBytes: size("RUNTIME_WORKER_LOGS_TOTAL"),
      metricsHistorySizeBytes: sizeOrZero("RUNTIME_METRICS_HISTORY_SIZE", value("RUNTIME_METRICS_HISTORY_SIZE")),
    },
    workerPermissions: permissionList(value("RUNTIME_WORKER_PERMISSIONS")),
    workerNetwork: { mode: networkMode(value("RUNTIME_WORKER_NETWORK")), ...networkGrants(value("RUNTIME_WORKER_NETWORK_ALLOW")) },
    requiresSandbox: accepted(
      "RUNTIME_ISOLATION",
      value("RUNTIME_ISOLATION"),
      "available or strict",
      isolationModes.get(value("RUNTIME_ISOLATION")),
    ),
    pluginUploads: accepted(
      "RUNTIME_PLUGIN_UPLOADS",
      value("RUNTIME_PLUGIN_UPLOADS"),
      `one of ${pluginUploadModes.join(", ")}`,
      pluginUploadModes.find((mode) => mode === value("RUNTIME_PLUGIN_UPLOADS")),
    ),
    workerUids: uidRange(value("RUNTIME_WORKER_UIDS")),
    auditLog: {
      fileBytes: size("RUNTIME_AUDIT_LOG_SIZE"),
      keptFiles: wholeNumber("RUNTIME_AUDIT_LOG_FILES", value("RUNTIME_AUDIT_LOG_FILES"), 2, 10_000),
    },
    logLevel: accepted(
      "RUNTIME_LOG_LEVEL",
      value("RUNTIME_LOG_LEVEL"),
      `one of ${logLevels.join(", ")}`,
      logLevels.find((level) => level === value("RUNTIME_LOG_LEVEL")),
    ),
    prettyLog: process.stdoutIsTerminal,
    variables: describeVariables(environment),
  };
}

/** Returns the limits for the unpacked content of an archive. Throws ConfigError. */
export function readArchiveLimits(environment: Environment): Pick<Limits, "maxExpandedSizeBytes" | "maxArchiveEntries"> {
  const value = (name: string) => valueOf(environment, name);
  return {
    maxExpandedSizeBytes: sizeAboveZero("RUNTIME_MAX_EXPANDED_SIZE", value("RUNTIME_MAX_EXPANDED_SIZE")),
    maxArchiveEntries: wholeNumber("RUNTIME_MAX_ARCHIVE_ENTRIES", value("RUNTIME_MAX_ARCHIVE_ENTRIES"), 1, 10_000_000),
  };
}

function sizeAboveZero(variable: string, text: string): number {
  return accepted(variable, text, "a size such as 64kb, 10mb, 1gb, or a number of bytes, above 0", parseSizeBytes(text) || undefined);
}

function sizeOrZero(variable: string, text: string): number {
  return accepted(variable, text, "0, or a size such as 64kb, 10mb, 1gb, or a number of bytes", parseSizeBytes(text));
}

function wholeNumber(variable: string, text: string, least: number, most: number): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return accepted(variable, text, `a whole number from ${least} to ${most}`, number >= least && number <= most ? number : undefined);
}

/**
 * The loopback addresses for IPv4 and IPv6. If the daemon listened on only one of them, another program could listen on the other and
 * receive requests for the daemon.
 */
const loopbackHosts = ["127.0.0.1", "::1"];

/**
 * Accepts every address and host name in a valid form. Whether an address belongs to this machine is known only when the daemon listens,
 * and can change after a restart of the machine.
 */
function hostsOf(variable: string, host: string | undefined): readonly string[] {
  if (!host) return loopbackHosts;
  const takes = "an IP address or a host name of this machine, such as 127.0.0.1 or 0.0.0.0";
  return [accepted(variable, host, takes, isIP(host) !== 0 || hostNamePattern.test(host) ? host : undefined)];
}

function adminListener(host: string, port: string): Config["adminListener"] {
  if (host === "" && port === "") return undefined;
  return { hosts: hostsOf("RUNTIME_ADMIN_HOST", host), port: wholeNumber("RUNTIME_ADMIN_PORT", port || "8001", 0, 65_535) };
}

function permissionList(text: string): string[] {
  const permissions = commaSeparated(text);
  const areKnown = permissions.every((permission) => permission === "network" || isIsolatePermission(permission));
  return accepted(
    "RUNTIME_WORKER_PERMISSIONS",
    text,
    `a list, separated by commas, of: network, or ${isolatePermissionForms}`,
    areKnown ? permissions : undefined,
  );
}

function networkMode(text: string): NetworkMode | undefined {
  if (text === "") return undefined;
  return accepted(
    "RUNTIME_WORKER_NETWORK",
    text,
    "public, all or none",
    networkModes.find((mode) => mode === text),
  );
}

/** Entry of `RUNTIME_WORKER_NETWORK_ALLOW` that allows every worker to connect to this machine. */
const loopbackEntry = "loopback";

function networkGrants(text: string): Omit<NetworkCeilingOptions, "mode"> {
  const entries = commaSeparated(text);
  const grants = entries
    .filter((entry) => entry !== loopbackEntry)
    .map((entry) => {
      const [, scope, targetText = ""] = /^(?:(@[a-z0-9._-]+)=)?(.*)$/.exec(entry) ?? [];
      const target = parseNetworkTarget(targetText);
      return target && { scope, target };
    });
  return {
    grants: accepted(
      "RUNTIME_WORKER_NETWORK_ALLOW",
      text,
      `a list, separated by commas, of: loopback, ${networkTargetForms}; @scope= before a target restricts the target to that scope`,
      grants.every((grant) => grant !== undefined) ? grants : undefined,
    ),
    allowsLoopback: entries.includes(loopbackEntry),
  };
}

/** Parses the range of user ids for isolates. Rejects ids below 1000, because Linux distributions reserve these for the system. */
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
    "an empty value, or a path such as /_ (a slash before each segment, no slash at the end, not below /cpanel)",
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
