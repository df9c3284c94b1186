import { usualLimits } from "../../shared/archive/usual-limits.js";
import { instanceVariables } from "./instance.js";
import { packageSourceVariables } from "./package-source.js";
import { primaryVariables } from "./primary-source.js";

/**
 * Every variable that the daemon reads. docs/reference/configuration.md is generated from this list.
 * @public
 */
export const variables: readonly VariableDescription[] = [
  {
    name: "HOST",
    fallback: "",
    meaning: "Address to listen on. Unset: both loopback addresses, `127.0.0.1` and, if the machine has it, `::1`.",
  },
  {
    name: "PORT",
    fallback: "8000",
    meaning: "Port to listen on; `0` = any free port, which the log names. A socket that systemd passes (`LISTEN_FDS`) takes precedence.",
  },
  {
    name: "RUNTIME_ADMIN_HOST",
    fallback: "",
    meaning:
      "Address of a second listener; both loopback addresses if only its port is set. With this variable or `RUNTIME_ADMIN_PORT`, only the second listener serves the API and the panel.",
  },
  {
    name: "RUNTIME_ADMIN_PORT",
    fallback: "",
    meaning: "Port of the second listener; `8001` if only its address is set; `0` = any free port, which the log names.",
  },
  {
    name: "RUNTIME_PUBLIC_URL",
    fallback: "",
    meaning:
      "URL at which visitors reach workers, such as `https://apps.example.org`. The panel's links use it. Set it together with a second listener.",
  },
  {
    name: "RUNTIME_PANEL_HOST",
    fallback: "",
    meaning:
      "Host name of the panel with an optional port, such as `panel.example.org`. The daemon serves the panel and accepts session cookies only at this name, and serves no worker there. Unset: the panel shares its origin with workers, whose pages can then act as the signed-in operator.",
  },
  {
    name: "RUNTIME_ALLOWED_HOSTS",
    fallback: "",
    meaning:
      "Host names that the daemon serves, separated by commas, without ports; `*.example.org` = all names below `example.org`. A request for another name gets 421 `HOST_NOT_SERVED`. The names of `RUNTIME_PANEL_HOST` and `RUNTIME_PUBLIC_URL` are always served. Unset: every name is served.",
  },
  {
    name: "RUNTIME_APP_DOMAIN",
    fallback: "",
    meaning:
      "Domain below which each worker has a host name, such as `apps.example.org`: `shop.apps.example.org` is the worker `shop`, `shop--team.apps.example.org` is `@team/shop`, and `v1-4-2---shop.apps.example.org` is version 1.4.2 of `shop`. Point `*.apps.example.org` at the daemon.",
  },
  {
    name: "RUNTIME_HOST_SUFFIXES",
    fallback: "",
    meaning:
      "Host names that a key of a namespace can add, separated by commas, such as `@team=*.team.example.org`. A namespaced key without a matching entry can add no host; a key for all namespaces can add every host.",
  },
  { name: "RUNTIME_API_PREFIX", fallback: "", meaning: "Prefix placed before `/api`, such as `/_`." },
  {
    name: "RUNTIME_ROOT_KEY",
    fallback: "",
    meaning:
      "The root key. Prefer the systemd credential `root-key` or `RUNTIME_ROOT_KEY_FILE`, which take precedence. Without all three, the daemon reads `root.key` in the state directory; a daemon that is started at a terminal creates this file.",
  },
  { name: "RUNTIME_ROOT_KEY_FILE", fallback: "", meaning: "File with the root key. The daemon reads it again on SIGHUP." },
  {
    name: "RUNTIME_SECRETS_KEY_FILE",
    fallback: "",
    meaning:
      "File with the key that encrypts the secrets of workers: 32 bytes in Base64. Prefer the systemd credential `secrets-key`, which takes precedence. Without either, the daemon creates `secrets.key` in the state directory when the first secret is set, except with `RUNTIME_AUTH_DB_MODE=sync`.",
  },
  { name: "RUNTIME_CPANEL", fallback: "on", meaning: "`off`: the control panel is not served." },
  { name: "RUNTIME_CPANEL_SESSION_TTL", fallback: "24h", meaning: "Lifetime of a session, such as `30m`, `2h`, `7d`." },
  {
    name: "RUNTIME_WORKER_DIRS",
    fallback: "./.runtime/workers",
    meaning:
      "Directories with workers, separated by `:`. Uploads are installed in the first one that is writable and whose name does not begin with a dot.",
  },
  {
    name: "RUNTIME_PLUGIN_DIRS",
    fallback: "./.runtime/plugins",
    meaning: "Directories with plugins, separated by `:`. They cannot be directories with workers.",
  },
  {
    name: "RUNTIME_PLUGIN_UPLOADS",
    fallback: "permitted",
    meaning:
      "Keys that can upload plugins and change their files; a plugin runs with the rights of the daemon. `permitted` = keys with `plugins:install` (and `plugins:remove` to delete files); `admin` = those of them with all permissions and no namespace restriction; `root` = the root key only; `off` = no key.",
  },
  { name: "RUNTIME_STATE_DIR", fallback: "./.runtime/state", meaning: "Directory of the key store. Only one daemon at a time can use it." },
  {
    name: "RUNTIME_DATA_DIR",
    fallback: "",
    meaning: "Directory of the data folders of workers (`data` in a manifest). Unset: `data` beside the state directory.",
  },
  ...primaryVariables,
  ...instanceVariables,
  ...packageSourceVariables,
  { name: "RUNTIME_MAX_UPLOAD_SIZE", fallback: usualLimits.uploadSize, meaning: "Maximum size of an uploaded archive." },
  { name: "RUNTIME_MAX_EXPANDED_SIZE", fallback: usualLimits.expandedSize, meaning: "Maximum size of an archive's unpacked files." },
  {
    name: "RUNTIME_MAX_ARCHIVE_ENTRIES",
    fallback: String(usualLimits.archiveEntries),
    meaning: "Maximum number of entries of an archive.",
  },
  { name: "RUNTIME_MAX_BODY_SIZE", fallback: "100mb", meaning: "Maximum value of `maxBodySize` in a manifest." },
  {
    name: "RUNTIME_CHECK_UPLOADS",
    fallback: "false",
    meaning: "`true`: the daemon loads the code of an upload once before it installs the version, and rejects the upload if loading fails.",
  },
  { name: "RUNTIME_POOL_SIZE", fallback: "500", meaning: "Maximum number of isolates (processes of workers) at the same time." },
  { name: "RUNTIME_WORKER_DATA_MAX", fallback: "1gb", meaning: "Maximum value of `data` in a manifest." },
  {
    name: "RUNTIME_WORKER_TMP_MAX",
    fallback: "64mb",
    meaning: "Maximum size of the temporary folder of an isolate (`os.tmpdir()`), which is deleted with the isolate.",
  },
  { name: "RUNTIME_WORKER_MEMORY_MAX", fallback: "1gb", meaning: "Maximum value of `memory` in a manifest." },
  {
    name: "RUNTIME_SHARED_STREAM_RATE",
    fallback: "128mb",
    meaning:
      "Bytes per second and processor that the streamed bodies of all workers share while other workers have requests. Otherwise streams have no limit.",
  },
  {
    name: "RUNTIME_WORKER_LOG_SIZE",
    fallback: "1mb",
    meaning: "Size in memory of a worker's output, and again of its request log. The oldest entries are dropped first.",
  },
  {
    name: "RUNTIME_LOG_RETENTION",
    fallback: "16mb",
    meaning: "Size of the files with the log entries of one worker, which survive a restart. The oldest entries are dropped first.",
  },
  {
    name: "RUNTIME_WORKER_LOGS_TOTAL",
    fallback: "64mb",
    meaning: "Size in memory of the logs of all workers. The log of the worker with the oldest last write is dropped first.",
  },
  {
    name: "RUNTIME_METRICS_HISTORY_SIZE",
    fallback: "64mb",
    meaning:
      "Maximum memory of the metrics history of all workers. Beyond it, the history of idle workers is only in files of the state directory. `0` = the daemon records no history.",
  },
  {
    name: "RUNTIME_WORKER_PERMISSIONS",
    fallback: "network",
    meaning:
      "Permissions that manifests can request, separated by commas: `child-process`, `worker-threads`, `addons`, `wasi`, `inspector`, `udp`, `fs-read:/path`, `fs-write:/path`. Without `network`, workers cannot use the network, if the Node version can enforce this.",
  },
  {
    name: "RUNTIME_WORKER_NETWORK",
    fallback: "",
    meaning:
      "Addresses that workers can connect to: `public` (all except loopback, private, link-local and metadata addresses), `all` or `none`. Unset: `public`; with a state directory from before this variable existed, `all` and a warning.",
  },
  {
    name: "RUNTIME_WORKER_NETWORK_ALLOW",
    fallback: "",
    meaning:
      "Further targets that `network.allow` in manifests can request, separated by commas: `host:port`, `host:*` or `unix:/path`; `@scope=` before a target restricts it to one scope. `loopback` allows all workers to connect to this machine, for development.",
  },
  {
    name: "RUNTIME_ISOLATION",
    fallback: "available",
    meaning:
      "`available`: the daemon uses the restrictions that the kernel supports, and a warning at the start names the missing ones. `strict`: without Landlock and seccomp the daemon does not start (exit status 78).",
  },
  {
    name: "RUNTIME_WORKER_UIDS",
    fallback: "1900000000-1900009999",
    meaning:
      "User and group ids of isolates if the daemon runs as root: each isolate gets its own. `off` = the daemon's user. No other user, program or daemon can use these ids, because the daemon ends all processes of a worker's user.",
  },
  {
    name: "RUNTIME_AUDIT_LOG_SIZE",
    fallback: "10mb",
    meaning: "Maximum size of one file of the audit log. The daemon then begins the next file.",
  },
  { name: "RUNTIME_AUDIT_LOG_FILES", fallback: "10", meaning: "Number of files of the audit log. The oldest is deleted first." },
  {
    name: "RUNTIME_LOG_LEVEL",
    fallback: "info",
    meaning: "`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`. SIGUSR2 switches between this level and `debug`.",
  },
];
/**
 * Values of `RUNTIME_PLUGIN_UPLOADS`. Plugins can be uploaded with any key that has the permission, only with keys that have every
 * permission and no namespace restriction, only with the root key, or with no key.
 */
export const pluginUploadModes = ["permitted", "admin", "root", "off"] as const;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the value of an environment variable, or its default. */
export function valueOf(environment: Environment, name: string): string {
  return environment[name] || (variables.find((variable) => variable.name === name)?.fallback ?? "");
}

/** One row of the configuration reference: name, default and meaning of a variable. */
export interface VariableDescription {
  readonly name: string;
  readonly fallback: string;
  readonly meaning: string;
}
export type PluginUploadMode = (typeof pluginUploadModes)[number];
