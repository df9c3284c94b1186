import { setTimeout as delay } from "node:timers/promises";
import { keyOf, usedFields, valueOf, versionKind } from "../../build/server/package-store/version-row.js";
import { packageNameOf, randomDigest } from "./simulated-daemon.mjs";

/** Number of packages in one transaction. The primary must finish a transaction within 2 s. */
const packagesAtOnce = 100;
const seedAttempts = 20;
const attemptPauseMs = 1_000;
const archiveBytes = 48_000;
const hexOfCommit = 40;
const version = "1.0.0";

/**
 * Writes packages to the primary with the rows that an upload by `runtimectl deploy` leaves: the version, its path, and the removed record of
 * its archive. Returns the average size of a version row in bytes.
 */
export async function seedPackages(daemon, count) {
  let bytes = 0;
  for (let start = 0; start < count; start += packagesAtOnce) {
    const changes = Array.from({ length: Math.min(packagesAtOnce, count - start) }, (_, index) => {
      const name = packageNameOf(start + index);
      const digest = randomDigest();
      const value = valueOf(rowOf(name, digest));
      bytes += value.length;
      return [
        { kind: versionKind, key: keyOf({ name, version }), value },
        daemon.claims.claim(`/${name}`, "worker", name),
        ...daemon.collector.changesFor(digest, []),
      ];
    });
    await transact(daemon, changes.flat());
  }
  return bytes / count;
}

/** Stores the changes, and repeats them if the primary did not respond within 2 s. A rejected change is not applied later. */
async function transact(daemon, changes) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await daemon.records.transact(changes);
    } catch (error) {
      if (error.code !== "KEY_STORE_UNAVAILABLE" || attempt === seedAttempts) throw error;
      process.stderr.write(`a transaction is repeated: ${error.message}\n`);
      await delay(attemptPauseMs);
    }
  }
}

function rowOf(name, digest) {
  const atSeconds = Math.floor(Date.now() / 1000);
  const contentDigest = randomDigest().slice("sha256:".length);
  return {
    digest,
    sizeBytes: archiveBytes,
    format: "tar",
    enabled: true,
    fields: usedFields({ name, version, entrypoint: "index.js" }),
    deployment: { digest: contentDigest, at: atSeconds, commit: contentDigest.slice(0, hexOfCommit), message: `Update ${name}`, by: "CI" },
    installation: { at: atSeconds, by: "ci", via: "cli" },
  };
}

/** Enables or disables the active version of a package, as an operator at another daemon does. */
export async function togglePackage(daemon, index) {
  const ref = { name: packageNameOf(index), version };
  await daemon.packages.setEnabled(ref, !daemon.packages.find(ref).enabled);
}
