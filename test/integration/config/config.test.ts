import { mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { ConfigError } from "../../../src/server/config/config-error.js";
import { readConfig, type Config } from "../../../src/server/config/config.js";
import { variables } from "../../../src/server/config/config-variables.js";
import { runProgram } from "../../support/run-program.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

const read = (environment: Record<string, string>) => readConfig(environment, { pid: 4_711, cwd: "/srv", stdoutIsTerminal: false });
const program = fileURLToPath(new URL("../../../bin/runtimed.js", import.meta.url));
const mb = 1024 * 1024;

const syncUrl = "http://keys.example.org:8080";
/** Variables that have an effect only together with others. */
const neededWith = (variable: string): Record<string, string> => ({
  ...(/^RUNTIME_(?:PACKAGE_STORE_|CACHE_)/.test(variable) && { RUNTIME_PACKAGE_STORE: "oci:https://registry.example.org/runtimed" }),
  ...(variable.startsWith("RUNTIME_AUTH_DB_") && { RUNTIME_AUTH_DB_MODE: "sync", RUNTIME_AUTH_DB_SYNC_URL: syncUrl }),
});

type Case = readonly [variable: string, value: string, read: (config: Config) => unknown, expected: unknown];

const somePermissions = ["network", "wasi", "fs-read:/srv"];
const good: readonly Case[] = [
  ["HOST", "0.0.0.0", ({ hosts }) => hosts, ["0.0.0.0"]],
  ["HOST", "127.0.0.1", ({ hosts }) => hosts, ["127.0.0.1"]],
  ["PORT", "0", ({ port }) => port, 0],
  ["PORT", "65535", ({ port }) => port, 65_535],
  ["RUNTIME_API_PREFIX", "/_", ({ apiBase }) => apiBase, "/_/api"],
  ["RUNTIME_API_PREFIX", "/a/b-c/D.e~f", ({ apiBase }) => apiBase, "/a/b-c/D.e~f/api"],
  ["RUNTIME_API_PREFIX", "/cpanels", ({ apiBase }) => apiBase, "/cpanels/api"],
  ["RUNTIME_ROOT_KEY", "secret", ({ rootKey }) => rootKey, "secret"],
  ["RUNTIME_ROOT_KEY", " with white space; and = signs \n", ({ rootKey }) => rootKey, "with white space; and = signs"],
  ["RUNTIME_ROOT_KEY", " \t\n", ({ rootKey }) => rootKey, undefined],
  ["RUNTIME_ROOT_KEY", "k".repeat(512), ({ rootKey }) => rootKey, "k".repeat(512)],
  ["RUNTIME_SECRETS_KEY_FILE", "keys/secrets", ({ secretsKey }) => secretsKey.file, "/srv/keys/secrets"],
  ["RUNTIME_CPANEL_SESSION_TTL", "30m", ({ sessionTtlSeconds }) => sessionTtlSeconds, 1_800],
  ["RUNTIME_CPANEL_SESSION_TTL", "2h", ({ sessionTtlSeconds }) => sessionTtlSeconds, 7_200],
  ["RUNTIME_CPANEL_SESSION_TTL", "7d", ({ sessionTtlSeconds }) => sessionTtlSeconds, 604_800],
  ["RUNTIME_CPANEL_SESSION_TTL", "1s", ({ sessionTtlSeconds }) => sessionTtlSeconds, 1],
  ["RUNTIME_CPANEL_SESSION_TTL", "1500ms", ({ sessionTtlSeconds }) => sessionTtlSeconds, 1],
  ["RUNTIME_CPANEL_SESSION_TTL", "3600", ({ sessionTtlSeconds }) => sessionTtlSeconds, 3_600],
  ["RUNTIME_WORKER_DIRS", "/a:b:./c/../d", ({ workerDirectories }) => workerDirectories, ["/a", "/srv/b", "/srv/d"]],
  ["RUNTIME_WORKER_DIRS", ":/a::/b/:", ({ workerDirectories }) => workerDirectories, ["/a", "/b"]],
  ["RUNTIME_WORKER_DIRS", ":", ({ workerDirectories }) => workerDirectories, []],
  ["RUNTIME_PLUGIN_DIRS", "p", ({ pluginDirectories }) => pluginDirectories, ["/srv/p"]],
  ["RUNTIME_STATE_DIR", "../state", ({ stateDirectory, dataDirectory }) => [stateDirectory, dataDirectory], ["/state", "/data"]],
  ["RUNTIME_MAX_UPLOAD_SIZE", "5mb", ({ limits }) => limits.maxUploadSizeBytes, 5 * mb],
  ["RUNTIME_MAX_UPLOAD_SIZE", "1.5 KB", ({ limits }) => limits.maxUploadSizeBytes, 1_536],
  ["RUNTIME_MAX_EXPANDED_SIZE", "2gb", ({ limits }) => limits.maxExpandedSizeBytes, 2_048 * mb],
  ["RUNTIME_MAX_ARCHIVE_ENTRIES", "1", ({ limits }) => limits.maxArchiveEntries, 1],
  ["RUNTIME_MAX_BODY_SIZE", "1024", ({ limits }) => limits.maxBodySizeBytes, 1_024],
  ["RUNTIME_POOL_SIZE", "3", ({ limits }) => limits.poolSize, 3],
  ["RUNTIME_WORKER_MEMORY_MAX", "64mb", ({ limits }) => limits.workerMemoryMaxBytes, 64 * mb],
  ["RUNTIME_DATA_DIR", "d", ({ dataDirectory }) => dataDirectory, "/srv/d"],
  ["RUNTIME_WORKER_DATA_MAX", "5gb", ({ limits }) => limits.workerDataMaxBytes, 5_120 * mb],
  ["RUNTIME_WORKER_TMP_MAX", "8mb", ({ limits }) => limits.workerTemporaryMaxBytes, 8 * mb],
  ["RUNTIME_SHARED_STREAM_RATE", "32mb", ({ limits }) => limits.sharedStreamRateBytes, 32 * mb],
  ["RUNTIME_LOG_RETENTION", "2mb", ({ limits }) => limits.logRetentionSizeBytes, 2 * mb],
  ["RUNTIME_WORKER_LOG_SIZE", "2mb", ({ limits }) => limits.workerLogSizeBytes, 2 * mb],
  ["RUNTIME_WORKER_LOGS_TOTAL", "8mb", ({ limits }) => limits.workerLogsTotalBytes, 8 * mb],
  ["RUNTIME_METRICS_HISTORY_SIZE", "16mb", ({ limits }) => limits.metricsHistorySizeBytes, 16 * mb],
  ["RUNTIME_ADMIN_HOST", "::1", ({ adminListener }) => adminListener, { hosts: ["::1"], port: 8001 }],
  ["RUNTIME_PUBLIC_URL", "https://apps.example.org/x/", ({ publicUrl }) => publicUrl, "https://apps.example.org/x"],
  ["RUNTIME_PANEL_HOST", "Panel.example.org:8443", ({ panelHost }) => panelHost?.name, "panel.example.org"],
  ["RUNTIME_ALLOWED_HOSTS", "localhost, *.example.org", ({ allowedHosts }) => allowedHosts?.includes("a.example.org:1"), true],
  ["RUNTIME_PLUGIN_UPLOADS", "permitted", ({ pluginUploads }) => pluginUploads, "permitted"],
  ["RUNTIME_PLUGIN_UPLOADS", "admin", ({ pluginUploads }) => pluginUploads, "admin"],
  ["RUNTIME_PLUGIN_UPLOADS", "root", ({ pluginUploads }) => pluginUploads, "root"],
  ["RUNTIME_PLUGIN_UPLOADS", "off", ({ pluginUploads }) => pluginUploads, "off"],
  ["RUNTIME_APP_DOMAIN", "Apps.Example.org.", ({ appDomain }) => appDomain, "apps.example.org"],
  [
    "RUNTIME_HOST_SUFFIXES",
    "@team=*.Team.example.org, @shop=shop.example.org",
    ({ hostSuffixes }) => hostSuffixes,
    [
      { namespace: "@team", suffix: ".team.example.org" },
      { namespace: "@shop", suffix: "shop.example.org" },
    ],
  ],
  ["RUNTIME_ADMIN_PORT", "9001", ({ adminListener }) => adminListener, { hosts: ["127.0.0.1", "::1"], port: 9001 }],
  ["RUNTIME_CPANEL", "on", ({ servesPanel }) => servesPanel, true],
  ["RUNTIME_CPANEL", "off", ({ servesPanel }) => servesPanel, false],
  ["RUNTIME_CHECK_UPLOADS", "true", ({ checkUploads }) => checkUploads, true],
  ["RUNTIME_CHECK_UPLOADS", "false", ({ checkUploads }) => checkUploads, false],
  ["RUNTIME_AUTH_DB_MODE", "local", ({ primary }) => primary, undefined],
  ["RUNTIME_AUTH_DB_MODE", "sync", ({ primary }) => primary, { url: syncUrl, token: undefined, syncIntervalMs: 1_000 }],
  ["RUNTIME_AUTH_DB_SYNC_URL", "http://10.0.0.5:8080/", ({ primary }) => primary?.url, "http://10.0.0.5:8080"],
  ["RUNTIME_AUTH_DB_SYNC_URL", "libsql://keys.example.org", ({ primary }) => primary?.url, "https://keys.example.org"],
  ["RUNTIME_AUTH_DB_SYNC_TOKEN", "eyJ.a-b_c.d\n", ({ primary }) => primary?.token, "eyJ.a-b_c.d"],
  ["RUNTIME_AUTH_DB_SYNC_INTERVAL", "100ms", ({ primary }) => primary?.syncIntervalMs, 100],
  ["RUNTIME_AUTH_DB_SYNC_INTERVAL", "1m", ({ primary }) => primary?.syncIntervalMs, 60_000],
  ["RUNTIME_INSTANCE_URL", "http://10.0.0.11:8000/", ({ instanceUrl }) => instanceUrl, "http://10.0.0.11:8000"],
  ["RUNTIME_INSTANCE_URL", "https://eu-1.example.org", ({ instanceUrl }) => instanceUrl, "https://eu-1.example.org"],
  ["RUNTIME_INSTANCE_NAME", "eu-west_1.a", ({ instanceName }) => instanceName, "eu-west_1.a"],
  ["RUNTIME_PACKAGE_STORE", "directory", ({ packageSource }) => packageSource, undefined],
  ["RUNTIME_PACKAGE_STORE", "oci:https://registry.example.org/a/b-c", ({ packageSource }) => packageSource?.repository, "a/b-c"],
  ["RUNTIME_CACHE_SIZE", "5mb", ({ packageSource }) => packageSource?.cacheSizeBytes, 5 * mb],
  ["RUNTIME_PACKAGE_STORE_CREDENTIAL", "ann:secret", ({ packageSource }) => packageSource?.credential(), "ann:secret"],
  ["RUNTIME_WORKER_PERMISSIONS", "network, wasi,fs-read:/srv", ({ workerPermissions }) => workerPermissions, somePermissions],
  ["RUNTIME_WORKER_PERMISSIONS", ",", ({ workerPermissions }) => workerPermissions, []],
  ["RUNTIME_WORKER_NETWORK", "", ({ workerNetwork }) => workerNetwork.mode, undefined],
  ["RUNTIME_WORKER_NETWORK", "public", ({ workerNetwork }) => workerNetwork.mode, "public"],
  [
    "RUNTIME_WORKER_NETWORK_ALLOW",
    "@team=db.internal:5432, loopback,unix:/run/x",
    ({ workerNetwork: { grants, allowsLoopback } }) => ({ grants, allowsLoopback }),
    {
      grants: [
        { scope: "@team", target: { host: "db.internal", port: 5432 } },
        { scope: undefined, target: { path: "/run/x" } },
      ],
      allowsLoopback: true,
    },
  ],
  ["RUNTIME_ISOLATION", "strict", ({ requiresSandbox }) => requiresSandbox, true],
  ["RUNTIME_ISOLATION", "available", ({ requiresSandbox }) => requiresSandbox, false],
  ["RUNTIME_WORKER_UIDS", "off", ({ workerUids }) => workerUids, undefined],
  ["RUNTIME_WORKER_UIDS", "200000-200009", ({ workerUids }) => workerUids, { first: 200_000, last: 200_009 }],
  ["RUNTIME_AUDIT_LOG_SIZE", "1mb", ({ auditLog }) => auditLog, { fileBytes: mb, keptFiles: 10 }],
  ["RUNTIME_AUDIT_LOG_FILES", "2", ({ auditLog }) => auditLog, { fileBytes: 10 * mb, keptFiles: 2 }],
  ["RUNTIME_LOG_LEVEL", "debug", ({ logLevel }) => logLevel, "debug"],
  ["RUNTIME_LOG_LEVEL", "silent", ({ logLevel }) => logLevel, "silent"],
];

const sizes = ["0", "0mb", "10 apples", "-1", "1e3", "mb", "10tb", "0x10", "99999999999gb", "∞"];
const bad: Readonly<Record<string, readonly [takes: RegExp, values: readonly string[]]>> = {
  ...Object.fromEntries(
    variables
      .filter(({ name }) => name.endsWith("_SIZE") || /_(MAX|TOTAL|RETENTION)$/.test(name))
      .map(({ name }) => [name, [/a size such as 64kb/, sizes] as const]),
  ),
  RUNTIME_METRICS_HISTORY_SIZE: [/0, or a size such as 64kb/, sizes.slice(2)],
  RUNTIME_PLUGIN_DIRS: [/directories other than those of RUNTIME_WORKER_DIRS/, ["/p:./.runtime/workers"]],
  PORT: [/a whole number from 0 to 65535/, ["65536", "-1", "80.5", "http", " 80", "1e3", "99999999999"]],
  RUNTIME_API_PREFIX: [
    /an empty value, or a path such as \/_/,
    ["_", "/", "/_/", "//_", "/a//b", "/..", "/a/../b", "/.well-known", "/a b", "/a?b", "/ä", "/%61", "/a:b", "/cpanel", "/cpanel/x"],
  ],
  RUNTIME_CPANEL_SESSION_TTL: [/a duration such as 30m, 2h, 7d/, ["0", "0s", "999ms", "401d", "-1h", "1w", "1y", "soon", "1 h", "1H"]],
  RUNTIME_MAX_ARCHIVE_ENTRIES: [/a whole number from 1 to/, ["0", "-5", "many", "1.5", "1_000"]],
  RUNTIME_POOL_SIZE: [/a whole number from 1 to/, ["0", "-1", "100001", "lots"]],
  RUNTIME_PUBLIC_URL: [
    /an http or https URL without query and password/,
    ["apps.example.org", "ftp://example.org", "https://example.org/?a"],
  ],
  RUNTIME_PANEL_HOST: [/a host name with an optional port/, ["https://panel.example.org", "a b", "panel.example.org/x", "*.example.org"]],
  RUNTIME_ALLOWED_HOSTS: [/a list, separated by commas, of host names/, ["localhost:8000", "*", "http://localhost"]],
  RUNTIME_APP_DOMAIN: [/a DNS name/, ["*.example.org", "127.0.0.1", "apps.example.org:80", "https://example.org"]],
  RUNTIME_HOST_SUFFIXES: [/entries such as @team=/, ["*.example.org", "team=*.example.org", "@team=", "@team=*", "@team=*.127.0.0.1"]],
  RUNTIME_PLUGIN_UPLOADS: [/one of permitted, admin, root, off/, ["on", "ADMIN", "none"]],
  RUNTIME_ADMIN_PORT: [/a whole number from 0 to 65535/, ["70000", "-1", "http", "80.5"]],
  RUNTIME_AUDIT_LOG_FILES: [/a whole number from 2 to/, ["0", "1", "10001", "all"]],
  RUNTIME_CPANEL: [/on or off/, ["true", "0", "On"]],
  RUNTIME_CHECK_UPLOADS: [/true or false/, ["yes", "1", "True"]],
  RUNTIME_AUTH_DB_MODE: [/it takes local or sync/, ["replica", "Local", "sqlite"]],
  RUNTIME_AUTH_DB_SYNC_URL: [
    /the URL of a libSQL server without a path, query or password/,
    ["", "10.0.0.5:8080", "ws://a.example", "http://a.example/db", "http://a.example/?tls", "http://a.example/#x"],
  ],
  RUNTIME_INSTANCE_URL: [/https:\/\/ with a host/, ["10.0.0.11:8000", "http://203.0.113.7", "http://eu-1:8000", "https://a.example/api"]],
  RUNTIME_INSTANCE_NAME: [/1 to 64 letters/, ["a b", "a/b", "ü", "x".repeat(65)]],
  RUNTIME_AUTH_DB_SYNC_INTERVAL: [/a duration such as 500ms, 1s, 10s/, ["0", "99ms", "61s", "-1s", "often"]],
  RUNTIME_AUTH_DB_SYNC_TOKEN_FILE: [/the path of a file that the daemon can read \(error: ENOENT\)/, ["/no/such/file"]],
  RUNTIME_PACKAGE_STORE: [
    /directory, or oci: and the URL/,
    ["oci", "oci:https://a.io", "https://a.io/b", "oci:ftp://a.io/b", "oci:https://a.io/B?c"],
  ],
  RUNTIME_CACHE_SIZE: [/a size such as 500mb/, ["much", "-1"]],
  RUNTIME_PACKAGE_STORE_CREDENTIAL_FILE: [/the path of a file that the daemon can read \(error: ENOENT\)/, ["/no/such/file"]],
  RUNTIME_WORKER_PERMISSIONS: [/a list, separated by commas/, ["everything", "fs-read:data", "fs-write:/a/../b", "network;wasi"]],
  RUNTIME_WORKER_NETWORK: [/public, all or none/, ["on", "PUBLIC", "private"]],
  RUNTIME_WORKER_NETWORK_ALLOW: [/host:port/, ["db", "db:", "@team=", "@team:1=x", "http://db:1", "db:70000"]],
  RUNTIME_ISOLATION: [/available or strict/, ["on", "STRICT"]],
  RUNTIME_WORKER_UIDS: [/a range of user ids/, ["on", "0-10", "999-2000", "3000-2000", "2000", "1000-4294967295"]],
  RUNTIME_LOG_LEVEL: [/one of fatal, error, warn, info, debug, trace, silent/, ["verbose", "INFO", "30"]],
  RUNTIME_ROOT_KEY_FILE: [/the path of a file that the daemon can read \(error: ENOENT\)/, ["/no/such/file"]],
};

describe("configuration from environment variables", () => {
  test.each(good)("accepts the variable %s with the value %j", (variable, value, readValue, expected) => {
    expect(readValue(read({ ...neededWith(variable), [variable]: value }))).toEqual(expected);
  });

  test("has the documented default for each unset or empty variable", () => {
    const empty = Object.fromEntries(variables.map(({ name }) => [name, ""]));
    const documented = Object.fromEntries(variables.map(({ name, fallback }) => [name, fallback]));

    expect(read({})).toEqual(read(empty));
    // Only the origin of the values differs.
    expect({ ...read(documented), variables: read({}).variables }).toEqual(read({}));
    expect(read({}).variables.map(({ name, value }) => [name, value ?? ""])).toEqual(Object.entries(documented));
    expect(read({})).toMatchObject({
      hosts: ["127.0.0.1", "::1"],
      port: 8_000,
      apiBase: "/api",
      rootKey: undefined,
      sessionTtlSeconds: 86_400,
      workerDirectories: ["/srv/.runtime/workers"],
      stateDirectory: "/srv/.runtime/state",
      service: { listenFds: [], notifySocket: undefined, watchdogMs: undefined },
    });
  });

  test("is tested with at least one value of every variable", () => {
    const tried = new Set([...good.map(([variable]) => variable), ...Object.keys(bad)]);

    expect(variables.map(({ name }) => name).filter((name) => !tried.has(name))).toEqual([]);
  });
});

test("the error for a rejected URL hides the password in the URL", () => {
  expect(() => read({ RUNTIME_AUTH_DB_MODE: "sync", RUNTIME_AUTH_DB_SYNC_URL: "http://ann:secret@example.org" })).toThrow(
    'RUNTIME_AUTH_DB_SYNC_URL="http://[hidden]@example.org" is not accepted: it takes ',
  );
  expect(() => read({ RUNTIME_PUBLIC_URL: "https://ann:secret@example.org" })).toThrow(
    'RUNTIME_PUBLIC_URL="https://[hidden]@example.org" is not accepted: it takes an http or https URL without query and password.',
  );
});

describe("configuration with an invalid environment variable", () => {
  const cases = Object.entries(bad).flatMap(([variable, [takes, values]]) => values.map((value) => ({ variable, value, takes })));

  test.each(cases)("causes an error with the accepted values when $variable has the value $value", ({ variable, value, takes }) => {
    const readBad = () => read({ ...neededWith(variable), [variable]: value });
    expect(readBad).toThrow(ConfigError);
    expect(readBad).toThrow(`${variable}=${JSON.stringify(value)} is not accepted: it takes `);
    expect(readBad).toThrow(takes);
  });

  test.each(["schlüssel", "two\nlines", "k".repeat(513), "null\0byte"])("omits the invalid root key %j from the error", (key) => {
    expect(() => read({ RUNTIME_ROOT_KEY: key })).toThrow(/^RUNTIME_ROOT_KEY is not accepted: it takes a key of at most 512 [^\n]*$/);
    expect(() => read({ RUNTIME_ROOT_KEY: key })).not.toThrow(key);
  });
});

describe("configuration from systemd's environment variables", () => {
  test.each([
    [{ LISTEN_FDS: "1", LISTEN_PID: "4711" }, [3]],
    [{ LISTEN_FDS: "2", LISTEN_PID: "4711", LISTEN_FDNAMES: "http:http" }, [3, 4]],
    [{ LISTEN_FDS: "1", LISTEN_PID: "1" }, []],
    [{ LISTEN_FDS: "1" }, []],
    [{ LISTEN_FDS: "0", LISTEN_PID: "4711" }, []],
    [{ LISTEN_FDS: "x", LISTEN_PID: "4711" }, []],
  ])("maps the environment %j to the socket descriptors %j", (environment, expected) => {
    expect(read(environment).service.listenFds).toEqual(expected);
  });

  test.each([
    [{ WATCHDOG_USEC: "30000000", WATCHDOG_PID: "4711" }, 30_000],
    [{ WATCHDOG_USEC: "30000000" }, 30_000],
    [{ WATCHDOG_USEC: "30000000", WATCHDOG_PID: "1" }, undefined],
    [{ WATCHDOG_USEC: "0", WATCHDOG_PID: "4711" }, undefined],
    [{ WATCHDOG_USEC: "soon" }, undefined],
  ])("maps the environment %j to the watchdog interval %j in ms", (environment, expected) => {
    expect(read(environment).service.watchdogMs).toBe(expected);
  });

  test.each([["/run/systemd/notify"], ["@abstract"]])("contains the notification socket %s from NOTIFY_SOCKET", (address) => {
    expect(read({ NOTIFY_SOCKET: address }).service.notifySocket).toBe(address);
  });
});

test("the root key is read from the systemd credential, else a file, else a variable", async () => {
  const directory = await temporaryDirectory();
  const credentials = path.join(directory, "credentials");
  await mkdir(credentials);
  const file = path.join(directory, "key");
  await writeFile(file, "from the file\n");
  const all = { CREDENTIALS_DIRECTORY: credentials, RUNTIME_ROOT_KEY_FILE: file, RUNTIME_ROOT_KEY: "from the variable" };

  expect(read({ RUNTIME_ROOT_KEY: all.RUNTIME_ROOT_KEY })).toMatchObject({ rootKey: "from the variable", rootKeyFile: undefined });
  // systemd sets the directory for other credentials, too.
  expect(read(all)).toMatchObject({ rootKey: "from the file", rootKeyFile: { file } });
  await writeFile(path.join(credentials, "root-key"), "from the credential\n");
  expect(read(all)).toMatchObject({ rootKey: "from the credential", rootKeyFile: { file: path.join(credentials, "root-key") } });
});

describe("runtimed with environment variables", () => {
  test.each([
    ["PORT", "70000"],
    ["RUNTIME_API_PREFIX", "api"],
    ["RUNTIME_CPANEL_SESSION_TTL", "forever"],
    ["RUNTIME_ROOT_KEY", "schlüssel"],
    ["RUNTIME_AUTH_DB_MODE", "both"],
  ])("exits with 78, prints one line and creates no file (invalid variable: %s)", async (variable, value) => {
    const cwd = await temporaryDirectory();

    const { code, stdout, stderr } = await runProgram([program], { cwd, env: { [variable]: value } });

    expect({ code, stdout }).toEqual({ code: 78, stdout: "" });
    expect(stderr).toMatch(new RegExp(`^runtimed: ${variable}[^\\n]* is not accepted: it takes [^\\n]+\\.\\n$`));
    expect(await readdir(cwd)).toEqual([]);
  });

  test("exits with 1 and an error that names HOST when HOST is not a local address", async () => {
    // 192.0.2.0/24 is reserved for documentation (RFC 5737).
    const { code, stderr } = await runProgram([program], { cwd: await temporaryDirectory(), env: { HOST: "192.0.2.1", PORT: "0" } });

    expect(code).toBe(1);
    expect(stderr).toMatch(/^runtimed: 192\.0\.2\.1 is not an address of this machine; set HOST [^\n]*\n$/);
  });

  test("deletes every secret from process.env", async () => {
    const cwd = await temporaryDirectory();
    await writeFile(path.join(cwd, "root-key"), "secret in a file");
    const main = new URL("../../../dist/server/main.js", import.meta.url).href;
    const script = `const { runDaemon } = await import(${JSON.stringify(main)}); await runDaemon({ printsNextSteps: false }); process.stderr.write(JSON.stringify(process.env)); process.kill(process.pid, "SIGTERM");`;
    const secrets = {
      RUNTIME_ROOT_KEY: "secret in a variable",
      RUNTIME_ROOT_KEY_FILE: path.join(cwd, "root-key"),
      CREDENTIALS_DIRECTORY: cwd,
      // The variables of systemd are only for the daemon as well.
      NOTIFY_SOCKET: path.join(cwd, "nobody-listens"),
      WATCHDOG_USEC: "30000000",
      LISTEN_FDS: "1",
      LISTEN_PID: "1",
      LISTEN_FDNAMES: "http",
    };

    const { code, stderr } = await runProgram(["--input-type=module", "-e", script], { cwd, env: { PORT: "0", ...secrets } });

    expect(code).toBe(0);
    expect(Object.keys(JSON.parse(stderr) as object)).toContain("PORT");
    for (const name of Object.keys(secrets)) expect(stderr).not.toContain(name);
  });
});
