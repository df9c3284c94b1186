import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";
import { createKeySecret, hashKeySecret, shownPrefixOf } from "../../src/server/access/credentials.js";
import type { Divergence } from "../../src/shared/contract/shared-index.js";
import type { NewKey } from "../../src/server/access/key-store.js";
import { ReplicaReader } from "../../src/server/access/replica/replica-database.js";
import { ReplicatedKeyStore } from "../../src/server/access/replica/replicated-key-store.js";
import type { ForeignChange } from "../../src/server/access/replica/replicated-key-cache.js";
import { createLog, type Log } from "../../src/server/log/log.js";

export interface OpenedStore {
  readonly store: ReplicatedKeyStore;
  readonly stateDirectory: string;
  /** Received changes of other daemons. */
  readonly heard: ForeignChange[];
  /** Kinds of the detected divergences. Undefined for the end of a divergence. */
  readonly divergences: (Divergence["kind"] | undefined)[];
}

/** Opens the key store of one daemon on a real libSQL server. The test's end closes it. */
export async function openReplicatedStore(
  url: string,
  options: { stateDirectory?: string; token?: string; syncIntervalMs?: number; log?: Log } = {},
): Promise<OpenedStore> {
  const stateDirectory = options.stateDirectory ?? (await mkdtemp(path.join(tmpdir(), "runtimed-test-")));
  const heard: ForeignChange[] = [];
  const divergences: OpenedStore["divergences"] = [];
  const store = await ReplicatedKeyStore.open({
    source: { url, token: options.token, syncIntervalMs: options.syncIntervalMs ?? 100 },
    stateDirectory,
    instance: { id: stateDirectory, name: path.basename(stateDirectory), run: randomUUID() },
    onForeignChange: (change) => heard.push(change),
    onDivergence: (divergence) => void divergences.push(divergence?.kind),
    log: options.log ?? createLog({ level: "silent" }),
  });
  onTestFinished(async () => {
    await store.close();
    await rm(stateDirectory, { recursive: true, force: true });
  });
  return { store, stateDirectory, heard, divergences };
}

/** Returns the number of keys that the daemon has after a restart, including revoked keys. */
export function keysInReplica(stateDirectory: string): number {
  return readReplica(stateDirectory, (reader) => reader.allRows().keys.length);
}

/**
 * Returns the newest revision that the daemon has after a restart. A sync that runs while the primary is restored replaces rows of the
 * replica by restored ones, so a test restores the primary only when the replica has all changes.
 */
export function revisionInReplica(stateDirectory: string): number {
  return readReplica(stateDirectory, (reader) => reader.readPosition().revision);
}

function readReplica<Result>(stateDirectory: string, read: (reader: ReplicaReader) => Result): Result {
  const reader = new ReplicaReader(path.join(stateDirectory, "replica/current/keys.db"));
  try {
    return read(reader);
  } finally {
    reader.close();
  }
}

export function newKey(name = "deploys", changes: Partial<NewKey> = {}): NewKey {
  const secret = createKeySecret();
  return {
    name,
    keyPrefix: shownPrefixOf(secret),
    hash: hashKeySecret(secret),
    role: "editor",
    permissions: [],
    namespaces: ["@team"],
    createdAt: 1_700_000_000,
    expiresAt: undefined,
    ...changes,
  };
}
