import type { HealthCheck } from "../shared/contract/health.js";
import type { AccessWarning } from "./access/access-warnings.js";
import type { KeyStoreState } from "./access/key-store.js";
import type { Readiness } from "./api/health.js";
import type { Services } from "./composition.js";
import type { IsolationLayer } from "./workers/sandbox/isolation-layers.js";

/** Looks at what a daemon needs to serve, its keys and a place for uploads, at the layers that isolate workers, and at what keys can do beyond their permissions. */
export async function readReadiness(
  { store, packages, engine }: Pick<Services, "store" | "packages" | "engine">,
  warnings: readonly AccessWarning[],
): Promise<Readiness> {
  const keys = store.readState();
  const canInstall = await packages.canInstall();
  return {
    missing: missingKeys(keys) ?? (canInstall ? undefined : "no worker directory can be installed to"),
    checks: [...checkKeys(keys), checkDirectory(canInstall), ...checkIsolation(await engine.isolation()), ...warnings.map(checkAccess)],
  };
}

/** A replica serves on while its primary is away. */
function missingKeys({ mode, isReadable, isWritable, problem }: KeyStoreState): string | undefined {
  if (mode === "local") return isWritable ? undefined : problem;
  return isReadable ? undefined : "it has no keys yet, since the primary of its key store gave it none";
}

function checkKeys({ mode, isReadable, isWritable, problem, replica }: KeyStoreState): HealthCheck[] {
  const status = mode === "local" || !isReadable ? "failed" : "degraded";
  const store: HealthCheck = isWritable ? { name: "key-store", status: "ok" } : { name: "key-store", status, message: problem };
  if (!replica) return [store];
  return [store, { name: "key-replica", status: isReadable ? "ok" : "failed", lagSeconds: replica.lagSeconds ?? null }];
}

function checkDirectory(canInstall: boolean): HealthCheck {
  if (canInstall) return { name: "worker-directory", status: "ok" };
  return { name: "worker-directory", status: "failed", message: "no worker directory can be installed to" };
}

function checkAccess({ name, message }: AccessWarning): HealthCheck {
  return message === undefined ? { name, status: "ok" } : { name, status: "degraded", message };
}

/** A missing layer is no reason to serve nothing: the operator asks for that by RUNTIME_ISOLATION=strict. */
function checkIsolation(layers: readonly IsolationLayer[]): HealthCheck[] {
  return layers.map(({ name, isActive, message }) => ({ name: `isolation:${name}`, status: isActive ? "ok" : "degraded", message }));
}
