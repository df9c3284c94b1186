import { usualLimits } from "../../shared/archive/usual-limits.js";
import { primaryVariables } from "./primary-source.js";

/**
 * Every variable that the daemon reads. docs/reference/configuration.md is generated from this list.
 * @public
 */
export const variables: readonly VariableDescription[] = [
  {
    name: "HOST",
    fallback: "",
    meaning: "Address to listen on. Unset: both loopback addresses, `127.0.0.1` and, where the machine has it, `::1`.",
  },
  {
    name: "PORT",
    fallback: "8000",
    meaning: "Port to listen on; `0` = any free port, the log names it. A socket handed over by systemd (`LISTEN_FDS`) wins.",
  },
  {
    name: "RUNTIME_ADMIN_HOST",
    fallback: "",
    meaning:
      "Address of a second listener, both loopback addresses when only its port is set. With this or `RUNTIME_ADMIN_PORT` set, the API and the panel answer there alone.",
  },
  {
    name: "RUNTIME_ADMIN_PORT",
    fallback: "",
    meaning: "Port of the second listener, `8001` when only its address is set; `0` = any free port, the log names it.",
  },
  {
    name: "RUNTIME_PUBLIC_URL",
    fallback: "",
    meaning: "Where people reach workers, such as `https://apps.example.org`: the panel's links lead there. Set it with a second listener.",
  },
  {
    name: "RUNTIME_PANEL_HOST",
    fallback: "",
    meaning:
      "Host name of operators with an optional port, such as `panel.example.org`: only there the panel opens and a session cookie counts, and no worker answers there. Unset: the panel shares the origin of workers, whose pages can act as the operator that looks at them.",
  },
  {
    name: "RUNTIME_ALLOWED_HOSTS",
    fallback: "",
    meaning:
      "Host names that requests may name, separated by commas, without ports; `*.` before a name means those below it. Others get 421 `HOST_NOT_SERVED`. The names of `RUNTIME_PANEL_HOST` and `RUNTIME_PUBLIC_URL` are always among them. Unset: every name is served.",
  },
  {
    name: "RUNTIME_APP_DOMAIN",
    fallback: "",
    meaning:
      "Domain below which every worker has a host name of its own, such as `apps.example.org`: `shop.apps.example.org` is the worker `shop`, `shop--team` is `@team/shop`, `v1-4-2---shop` its version 1.4.2. Point `*.apps.example.org` at the daemon.",
  },
  {
    name: "RUNTIME_HOST_SUFFIXES",
    fallback: "",
    meaning:
      "Host names that keys of a namespace may give to its workers, separated by commas, such as `@team=*.team.example.org`. A key without a matching entry can add no host; keys for all namespaces can add any.",
  },
  { name: "RUNTIME_API_PREFIX", fallback: "", meaning: "Prefix placed before `/api`, such as `/_`." },
  {
    name: "RUNTIME_ROOT_KEY",
    fallback: "",
    meaning:
      "The root key. Better: the systemd credential `root-key`, or `RUNTIME_ROOT_KEY_FILE`; both win over this. Without any of them `root.key` in the state directory counts; a daemon started at a terminal makes it.",
  },
  { name: "RUNTIME_ROOT_KEY_FILE", fallback: "", meaning: "File that holds the root key; SIGHUP reads it again." },
  {
    name: "RUNTIME_SECRETS_KEY_FILE",
    fallback: "",
    meaning:
      "File that holds the key for secrets of workers: 32 bytes in Base64. Better: the systemd credential `secrets-key`, which wins over this. Without either, the daemon creates `secrets.key` in the state directory when the first secret is set, except with `RUNTIME_AUTH_DB_MODE=sync`.",
  },
  { name: "RUNTIME_CPANEL", fallback: "on", meaning: "`off`: the control panel is not served." },
  { name: "RUNTIME_CPANEL_SESSION_TTL", fallback: "24h", meaning: "Lifetime of the session cookie, such as `30m`, `2h`, `7d`." },
  {
    name: "RUNTIME_WORKER_DIRS",
    fallback: "./.runtime/workers",
    meaning: "Directories scanned for workers, separated by `:`. Uploads go to the first that is writable and does not start with a dot.",
  },
  { name: "RUNTIME_PLUGIN_DIRS", fallback: "./.runtime/plugins", meaning: "Directories scanned for plugins, separated by `:`." },
  {
    name: "RUNTIME_PLUGIN_UPLOADS",
    fallback: "permitted",
    meaning:
      "Who may upload plugins and change their files, since a plugin runs as the daemon: `permitted` = keys with `plugins:install` (and `plugins:remove` to delete files), `admin` = of those, keys with all permissions and no namespace restriction, `root` = the root key, `off` = no key.",
  },
  { name: "RUNTIME_STATE_DIR", fallback: "./.runtime/state", meaning: "Directory of the key store; one daemon at a time." },
  {
    name: "RUNTIME_DATA_DIR",
    fallback: "",
    meaning: "Directory of the data folders of workers (`data` in a manifest). Unset: `data` beside the state directory.",
  },
  ...primaryVariables,
  { name: "RUNTIME_MAX_UPLOAD_SIZE", fallback: usualLimits.uploadSize, meaning: "Largest uploaded archive, as sent." },
  { name: "RUNTIME_MAX_EXPANDED_SIZE", fallback: usualLimits.expandedSize, meaning: "Most bytes that an archive may unpack to." },
  { name: "RUNTIME_MAX_ARCHIVE_ENTRIES", fallback: String(usualLimits.archiveEntries), meaning: "Most entries of an archive." },
  { name: "RUNTIME_MAX_BODY_SIZE", fallback: "100mb", meaning: "Ceiling of a worker's `maxBodySize`." },
  {
    name: "RUNTIME_CHECK_UPLOADS",
    fallback: "false",
    meaning: "`true`: an upload's code is loaded once before it takes the place of what is there, and refused when it cannot be.",
  },
  { name: "RUNTIME_POOL_SIZE", fallback: "500", meaning: "Worker isolates (processes) that may exist at once." },
  { name: "RUNTIME_WORKER_DATA_MAX", fallback: "1gb", meaning: "Ceiling of a worker's `data`." },
  {
    name: "RUNTIME_WORKER_TMP_MAX",
    fallback: "64mb",
    meaning: "Maximum size of the temporary folder of an isolate (`os.tmpdir()`), which is deleted with the isolate.",
  },
  { name: "RUNTIME_WORKER_MEMORY_MAX", fallback: "1gb", meaning: "Ceiling of a worker's `memory`." },
  {
    name: "RUNTIME_SHARED_STREAM_RATE",
    fallback: "128mb",
    meaning:
      "What all bodies streamed to and from workers get in a second, for each processor, while other workers are asked too; beside none, a body flows as fast as it can.",
  },
  {
    name: "RUNTIME_WORKER_LOG_SIZE",
    fallback: "1mb",
    meaning: "What is kept in memory of a worker's output, and again of its requests; the oldest entries go first.",
  },
  {
    name: "RUNTIME_LOG_RETENTION",
    fallback: "16mb",
    meaning: "Size of the files with the log entries of one worker, which survive a restart; the oldest entries go first.",
  },
  {
    name: "RUNTIME_WORKER_LOGS_TOTAL",
    fallback: "64mb",
    meaning: "What is kept of the output and requests of all workers; the worker that wrote least recently goes first.",
  },
  {
    name: "RUNTIME_WORKER_PERMISSIONS",
    fallback: "network",
    meaning:
      "What the `permissions` of manifests may ask for, separated by commas: `child-process`, `worker-threads`, `addons`, `wasi`, `inspector`, `udp`, `fs-read:/path`, `fs-write:/path`. Without `network` workers cannot reach the network, where Node can enforce it.",
  },
  {
    name: "RUNTIME_WORKER_NETWORK",
    fallback: "",
    meaning:
      "What workers may connect to at most: `public` (all but loopback, private, link-local and metadata addresses), `all` or `none`. Unset: `public` with a state directory that the daemon made, `all` and a warning with one from before this variable.",
  },
  {
    name: "RUNTIME_WORKER_NETWORK_ALLOW",
    fallback: "",
    meaning:
      "What `network.allow` of manifests may ask for beyond that, separated by commas: `host:port`, `host:*`, `unix:/path`, each for one scope with `@scope=` before it. `loopback` lets every worker connect to this machine, for development.",
  },
  {
    name: "RUNTIME_ISOLATION",
    fallback: "available",
    meaning:
      "`available`: the kernel restricts isolates as far as it can, and a warning at the start names what it lacks. `strict`: without Landlock and seccomp the daemon does not start (exit status 78).",
  },
  {
    name: "RUNTIME_WORKER_UIDS",
    fallback: "1900000000-1900009999",
    meaning:
      "User and group ids that isolates run under when the daemon is root, one for each isolate; `off` = the daemon's own. None of them may belong to anybody else, nor to another daemon: with a worker that may start processes, all that runs as its user is ended.",
  },
  { name: "RUNTIME_AUDIT_LOG_SIZE", fallback: "10mb", meaning: "Size of a file of the audit log from which on another one is begun." },
  { name: "RUNTIME_AUDIT_LOG_FILES", fallback: "10", meaning: "Files of the audit log that are kept; the oldest goes first." },
  {
    name: "RUNTIME_LOG_LEVEL",
    fallback: "info",
    meaning: "`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`. SIGUSR2 turns `debug` on and off.",
  },
];
/**
 * Values of `RUNTIME_PLUGIN_UPLOADS`: the keys that are allowed to upload plugins. All with the permission, only those with every
 * permission and no namespace restriction, only the root key, or none.
 */
export const pluginUploadModes = ["permitted", "admin", "root", "off"] as const;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the value of a variable, or its default. */
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
