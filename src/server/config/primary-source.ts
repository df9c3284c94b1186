import { hideCredentials } from "./hide-credentials.js";
import { parseDurationMs } from "../../shared/duration.js";
import { ConfigError } from "./config-error.js";
import { readSecret, type SecretForm } from "./secret-source.js";
import type { VariableDescription } from "./config-variables.js";

/** The database server that contains the keys of several daemons, and the interval at which each daemon fetches changes. */
export interface PrimarySource {
  /** Origin of the server, such as `http://10.0.0.5:8080`. */
  readonly url: string;
  readonly token: string | undefined;
  readonly syncIntervalMs: number;
}

export const primaryVariables: readonly VariableDescription[] = [
  {
    name: "RUNTIME_AUTH_DB_MODE",
    fallback: "local",
    meaning:
      "Location of the keys: `local` = the state directory; `sync` = a libSQL server that several daemons share, with a replica in each.",
  },
  {
    name: "RUNTIME_AUTH_DB_SYNC_URL",
    fallback: "",
    meaning: "Address of the libSQL server, such as `http://10.0.0.5:8080`. Required with `sync`.",
  },
  {
    name: "RUNTIME_AUTH_DB_SYNC_TOKEN",
    fallback: "",
    meaning:
      "Token of the libSQL server. Prefer the systemd credential `auth-db-sync-token` or `RUNTIME_AUTH_DB_SYNC_TOKEN_FILE`, which take precedence.",
  },
  { name: "RUNTIME_AUTH_DB_SYNC_TOKEN_FILE", fallback: "", meaning: "File with the token of the libSQL server." },
  {
    name: "RUNTIME_AUTH_DB_SYNC_INTERVAL",
    fallback: "1s",
    meaning:
      "Interval of requests for changes, from `100ms` to `1m`. A key that is revoked at another daemon is rejected here after at most this time.",
  },
];

/** Accepted form of the token. A line break is not accepted, because the syncer would exit with an error. */
const tokenForm: SecretForm = {
  credential: "auth-db-sync-token",
  variable: "RUNTIME_AUTH_DB_SYNC_TOKEN",
  pattern: /^[\w.-]{1,8192}$/,
  takes: "a token of at most 8192 letters, digits, dots, hyphens and underscores, such as a JWT",
};
const leastIntervalMs = 100;
const mostIntervalMs = 60_000;

/**
 * Returns the primary of the key store, or undefined in local mode. Throws ConfigError. `value` returns the value of an environment
 * variable or its default.
 */
export function readPrimary(
  environment: Readonly<Record<string, string | undefined>>,
  value: (variable: string) => string,
): PrimarySource | undefined {
  return readMode(value("RUNTIME_AUTH_DB_MODE")) === "local" ? undefined : readSource(environment, value);
}

/** Returns the location of the keys that the environment names. Returns undefined if it names none. Throws ConfigError. */
export function configuredMode(environment: Readonly<Record<string, string | undefined>>): "local" | "sync" | undefined {
  const text = environment["RUNTIME_AUTH_DB_MODE"];
  return text ? readMode(text) : undefined;
}

function readMode(text: string): "local" | "sync" {
  if (text === "local" || text === "sync") return text;
  throw new ConfigError("RUNTIME_AUTH_DB_MODE", text, "local or sync");
}

/**
 * Returns the configured primary. Also returns the primary in local mode, because `migrate-keys` copies the keys of a local key store to
 * the primary. Throws ConfigError.
 */
export function readSource(environment: Readonly<Record<string, string | undefined>>, value: (variable: string) => string): PrimarySource {
  return {
    url: readUrl(value("RUNTIME_AUTH_DB_SYNC_URL")),
    token: readSecret(environment, tokenForm).secret,
    syncIntervalMs: readInterval(value("RUNTIME_AUTH_DB_SYNC_INTERVAL")),
  };
}

function readUrl(text: string): string {
  // Accepts the scheme `libsql`, because the tools of libSQL print URLs with this scheme.
  const url = URL.canParse(text) ? new URL(text.replace(/^libsql:/, "https:")) : undefined;
  const isOrigin = url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  if (isOrigin) return url.origin;
  throw new ConfigError(
    "RUNTIME_AUTH_DB_SYNC_URL",
    hideCredentials(text),
    "the URL of a libSQL server without a path, query or password, such as http://10.0.0.5:8080",
  );
}

function readInterval(text: string): number {
  const intervalMs = parseDurationMs(text) ?? 0;
  if (intervalMs >= leastIntervalMs && intervalMs <= mostIntervalMs) return intervalMs;
  throw new ConfigError("RUNTIME_AUTH_DB_SYNC_INTERVAL", text, "a duration such as 500ms, 1s, 10s, from 100ms to 1m");
}
