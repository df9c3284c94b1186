import type { AccessWarning } from "./access/access-warnings.js";
import type { KeyStoreState } from "./access/key-store.js";
import type { Readiness } from "./api/health.js";
import type { SharedPackages } from "./open-stores.js";
import type { Services } from "./services.js";
import type { SecretStore } from "./secrets/secret-store.js";
import type { HealthCheck } from "../shared/contract/health.js";
import type { IsolationLayer } from "./workers/sandbox/isolation-layers.js";

/**
 * Checks the requirements for serving requests, the isolation layers, and the settings that give keys more access than their permissions.
 */
export async function readReadiness(
  {
    store,
    packages,
    sharedPackages,
    engine,
    secrets,
    diskSpace,
    instances,
  }: Pick<Services, "store" | "packages" | "sharedPackages" | "engine" | "secrets" | "diskSpace" | "instances">,
  warnings: readonly AccessWarning[],
): Promise<Readiness> {
  const keys = store.readState();
  const canInstall = await packages.canInstall();
  return {
    missing:
      missingKeys(keys) ??
      (instances.registry.isDraining ? "an operator drains it" : undefined) ??
      (canInstall ? undefined : "no worker directory is writable"),
    checks: [
      ...checkKeys(keys),
      checkDirectory(canInstall),
      ...(sharedPackages ? [checkPackageStore(sharedPackages)] : []),
      checkSecretsKey(secrets),
      checkData(engine.storage.full),
      await diskSpace.check(),
      ...checkIsolation(await engine.isolation()),
      ...warnings.map(checkAccess),
    ],
  };
}

/**
 * Returns the reason why the key store makes the daemon not ready. Undefined if keys can be verified. A replica verifies keys even while
 * its primary is unreachable.
 */
function missingKeys({ mode, isReadable, isWritable, problem }: KeyStoreState): string | undefined {
  if (mode === "local") return isWritable ? undefined : problem;
  return isReadable ? undefined : "the key store has no keys yet from its primary";
}

function checkKeys({ mode, isReadable, isWritable, problem, replica }: KeyStoreState): HealthCheck[] {
  const status = mode === "local" || !isReadable ? "failed" : "degraded";
  const store: HealthCheck = isWritable ? { name: "key-store", status: "ok" } : { name: "key-store", status, message: problem };
  if (!replica) return [store];
  return [store, { name: "key-replica", status: isReadable ? "ok" : "failed", lagSeconds: replica.lagSeconds ?? null }];
}

function checkDirectory(canInstall: boolean): HealthCheck {
  if (canInstall) return { name: "worker-directory", status: "ok" };
  return { name: "worker-directory", status: "failed", message: "no worker directory is writable" };
}

/**
 * Checks the registry, and reports plugins of the index that this daemon could not install. The daemon serves downloaded packages even if
 * this check fails.
 */
function checkPackageStore({ plugins, problem }: SharedPackages): HealthCheck {
  const problems = [problem(), ...plugins.problems().values()].filter((each) => each !== undefined);
  if (problems.length === 0) return { name: "package-store", status: "ok" };
  return { name: "package-store", status: "degraded", message: problems.join(" ") };
}

/** Checks the key that encrypts secrets. A problem only gives the state "degraded", because it affects only workers with secrets. */
function checkSecretsKey(secrets: SecretStore): HealthCheck {
  const { location, problem } = secrets.describeKey();
  return problem === undefined
    ? { name: "secrets-key", status: "ok", message: location }
    : { name: "secrets-key", status: "degraded", message: problem };
}

function checkData(full: readonly string[]): HealthCheck {
  if (full.length === 0) return { name: "worker-data", status: "ok" };
  return { name: "worker-data", status: "degraded", message: `DATA_QUOTA_EXCEEDED: ${full.join(", ")} can only read and delete` };
}

function checkAccess({ name, message }: AccessWarning): HealthCheck {
  return message === undefined ? { name, status: "ok" } : { name, status: "degraded", message };
}

/**
 * Reports each isolation layer. A missing layer gives the state "degraded". With RUNTIME_ISOLATION=strict, the daemon does not start if a
 * layer is missing.
 */
function checkIsolation(layers: readonly IsolationLayer[]): HealthCheck[] {
  return layers.map(({ name, isActive, message }) => ({ name: `isolation:${name}`, status: isActive ? "ok" : "degraded", message }));
}
