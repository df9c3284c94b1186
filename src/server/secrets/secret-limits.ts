import { ApiError } from "../../shared/api-error.js";
import { namespaceOf } from "../../shared/namespace.js";
import { valueBytes } from "./secret-cipher.js";
import type { SecretKind, SecretRecord, SecretRecords } from "./secret-records.js";

/**
 * Maximum size in bytes of all values of one worker or one namespace. The values of a worker and of its namespace, together with `env` of
 * the manifest, must fit into the start frame of an isolate.
 */
const maximumOwnerBytes = 64 * 1024;
const maximumOwnerSecrets = 100;
/**
 * Maximum size in bytes of all values of a namespace and its workers. The number of these values is limited to a tenth of all secrets, so
 * that one namespace cannot use up the total.
 */
const maximumNamespaceBytes = 1024 * 1024;
const maximumNamespaceSecrets = 1000;
/** Maximum number of all secrets. The daemon holds all secrets in memory. */
const maximumSecrets = 10_000;

interface SecretIdentity {
  readonly owner: string;
  readonly name: string;
  readonly kind: SecretKind;
}

interface Limits {
  readonly secrets: number;
  readonly bytes: number;
  /** Name of the worker, namespace or group to which a limit applies, for the error message. */
  readonly subject: string;
}

/** Throws TOO_MANY_SECRETS if a new value exceeds a limit. Always accepts a value that is not longer than the value it replaces. */
export function assertWithinLimits(
  records: SecretRecords,
  { owner, name, kind, value }: SecretIdentity & { readonly value: string },
): void {
  const replaced = records.find(owner, name, kind);
  const growth = {
    secrets: replaced ? 0 : 1,
    bytes: Buffer.byteLength(value) - (replaced ? valueBytes(replaced.secret.sealed) : 0),
  };
  assertWithin(records.of(owner), growth, { secrets: maximumOwnerSecrets, bytes: maximumOwnerBytes, subject: owner });
  const namespace = owner.startsWith("@") ? (namespaceOf(owner) ?? owner) : undefined;
  if (namespace !== undefined) {
    const subject = `the namespace ${namespace} and its workers together`;
    assertWithin(records.ofNamespace(namespace), growth, { secrets: maximumNamespaceSecrets, bytes: maximumNamespaceBytes, subject });
  }
  if (growth.secrets > 0 && records.count >= maximumSecrets) throw tooMany(maximumSecrets, "all workers and namespaces");
}

function assertWithin(stored: readonly SecretRecord[], growth: { secrets: number; bytes: number }, limits: Limits): void {
  if (growth.secrets > 0 && stored.length >= limits.secrets) throw tooMany(limits.secrets, limits.subject);
  const bytes = stored.reduce((sum, { secret }) => sum + valueBytes(secret.sealed), growth.bytes);
  if (growth.bytes > 0 && bytes > limits.bytes)
    throw new ApiError(
      "TOO_MANY_SECRETS",
      `The secret was not set. The values of all secrets of ${limits.subject} can have at most ${limits.bytes} bytes, including staged secrets. Remove a secret that no worker needs.`,
    );
}

function tooMany(limit: number, subject: string): ApiError {
  return new ApiError(
    "TOO_MANY_SECRETS",
    `The secret was not set. At most ${limit} secrets are possible for ${subject}. Remove a secret that no worker needs.`,
  );
}
