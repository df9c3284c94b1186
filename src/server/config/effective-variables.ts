import { existsSync } from "node:fs";
import path from "node:path";
import type { SettingsVariable } from "../../shared/contract/settings.js";
import { variables, type Environment } from "./config-variables.js";

/** Names of the systemd credentials, by the name of the environment variable that each credential replaces. */
const credentials: ReadonlyMap<string, string> = new Map([
  ["RUNTIME_ROOT_KEY", "root-key"],
  ["RUNTIME_AUTH_DB_SYNC_TOKEN", "auth-db-sync-token"],
  ["RUNTIME_SECRETS_KEY_FILE", "secrets-key"],
  ["RUNTIME_PACKAGE_STORE_CREDENTIAL", "package-store"],
]);
/** Variables whose values are secrets. No operation returns the value of such a variable. */
const secretNames: ReadonlySet<string> = new Set(["RUNTIME_ROOT_KEY", "RUNTIME_AUTH_DB_SYNC_TOKEN", "RUNTIME_PACKAGE_STORE_CREDENTIAL"]);

/** Returns every variable with its value in effect and the origin of that value. Secrets have no value. */
export function describeVariables(environment: Environment): SettingsVariable[] {
  return variables.map(({ name, fallback, meaning }) => {
    const isSecret = secretNames.has(name);
    const source = sourceOf(environment, name);
    const value = environment[name] || fallback;
    return { name, value: isSecret || value === "" ? null : value, source, isSecret, description: meaning };
  });
}

function sourceOf(environment: Environment, name: string): SettingsVariable["source"] {
  const credential = credentials.get(name);
  const directory = environment["CREDENTIALS_DIRECTORY"];
  if (credential !== undefined && directory && existsSync(path.join(directory, credential))) return "file";
  if (environment[`${name}_FILE`] && secretNames.has(name)) return "file";
  return environment[name] ? "environment" : "default";
}
