import { setTimeout as delay } from "node:timers/promises";
import { ApiError } from "../../shared/api-error.js";
import type { Log } from "../log/log.js";
import { KeyedLock } from "../platform/keyed-lock.js";
import { seal, unseal, type SecretsKey } from "./secret-cipher.js";
import { recordKeyOf, putSecret, type SecretRecord, type SecretRecords, type StoredSecret } from "./secret-records.js";
import type { SecretsKeys } from "./secrets-keys.js";

/** Number of records that one transaction encrypts again. Their values have at most about 1 MB in total. */
const batchRecords = 32;
/**
 * Pause in ms between two attempts to encrypt the records that other daemons have changed. All attempts together take about 10 s, longer
 * than a replica needs to receive a change.
 */
const passDelayMs = 200;
const maximumPasses = 50;

interface KeyRotationOptions {
  readonly records: SecretRecords;
  readonly keys: SecretsKeys;
  readonly log: Log;
}

/**
 * Encrypts all secrets with another key: writes the new key to the key file, encrypts each record again, then deletes the old key. After a
 * crash, the file contains both keys, and the next start continues.
 */
export class KeyRotation {
  readonly #records: SecretRecords;
  readonly #keys: SecretsKeys;
  readonly #log: Log;
  /** Lock around each change of the encryption keys. Only one runs at a time. */
  readonly #lock = new KeyedLock();

  constructor({ records, keys, log }: KeyRotationOptions) {
    this.#records = records;
    this.#keys = keys;
    this.#log = log;
  }

  /**
   * Calls `store` with the current encryption key, and creates a missing key first. No rotation runs meanwhile, so the key stays current.
   * Throws SECRETS_KEY_UNAVAILABLE.
   */
  withCurrentKey<Result>(store: (key: SecretsKey) => Promise<Result>): Promise<Result> {
    return this.#lock.run("keys", async () => store(await this.#keys.currentOrCreated()));
  }

  run(): Promise<{ keyId: string; reencrypted: number }> {
    return this.#lock.run("keys", async () => {
      if (!this.#keys.isManaged) return this.#useFirstKey();
      const key = await this.#keys.add();
      const reencrypted = await this.#reencrypt(key);
      await this.#keys.dropOld();
      return { keyId: key.id, reencrypted };
    });
  }

  /** Completes a rotation that a crash interrupted. */
  async finish(): Promise<void> {
    const { current } = this.#keys;
    if (!current || !this.#keys.isManaged || this.#keys.count === 1) return;
    try {
      const reencrypted = await this.#reencrypt(current);
      await this.#keys.dropOld();
      this.#log.info({ keyId: current.id, reencrypted }, "the interrupted rotation of the key for secrets was completed");
    } catch (error) {
      this.#log.warn(
        { err: error },
        "the interrupted rotation of the key for secrets could not be completed: run runtimectl secrets rotate-key",
      );
    }
  }

  /** Encrypts all secrets with the first key in the operator's file. Throws SECRETS_KEY_UNCHANGED if all secrets already use this key. */
  async #useFirstKey(): Promise<{ keyId: string; reencrypted: number }> {
    const key = await this.#keys.currentOrCreated();
    const reencrypted = await this.#reencrypt(key);
    if (reencrypted > 0) return { keyId: key.id, reencrypted };
    throw new ApiError(
      "SECRETS_KEY_UNCHANGED",
      `All secrets are encrypted with the first key (${key.id}) of ${this.#keys.source.name}. Nothing was changed. In the key file of each daemon, add a new key as the first line. Restart the daemons, then rotate again.`,
    );
  }

  /**
   * Returns the secrets that are encrypted with another key than `keyId`. Omits secrets that cannot be decrypted, because no rotation can
   * make them readable.
   */
  #outdated(keyId: string): Outdated[] {
    return this.#records.all().flatMap((record) => {
      if (record.secret.sealed.keyId === keyId) return [];
      const value = this.#open(record.secret);
      return value === undefined ? [] : { ...record, value };
    });
  }

  #open(secret: StoredSecret): string | undefined {
    const key = this.#keys.find(secret.sealed.keyId);
    try {
      return key && unseal(key, secret.sealed, recordKeyOf(secret));
    } catch {
      return undefined;
    }
  }

  /**
   * Encrypts with `key` all secrets that were encrypted with another key. Returns the number of changed secrets. Throws
   * KEY_STORE_UNAVAILABLE if other daemons change secrets during every attempt.
   */
  async #reencrypt(key: SecretsKey): Promise<number> {
    let count = 0;
    for (let pass = 1; pass <= maximumPasses; pass += 1) {
      const outdated = this.#outdated(key.id);
      if (outdated.length === 0) return count;
      // Waits before the next attempt, because another daemon has changed a record after this daemon read it. The replica receives this
      // change within its sync interval.
      if (pass > 1) await delay(passDelayMs);
      for (let start = 0; start < outdated.length; start += batchRecords) {
        const part = outdated.slice(start, start + batchRecords);
        const changes = part.map(({ kind, secret, value, revision }) =>
          putSecret(kind, { ...secret, sealed: seal(key, value, recordKeyOf(secret)) }, revision),
        );
        if (await this.#records.transact(changes)) count += part.length;
      }
    }
    throw changing();
  }
}

interface Outdated extends SecretRecord {
  readonly value: string;
}

function changing(): ApiError {
  return new ApiError(
    "KEY_STORE_UNAVAILABLE",
    "The rotation is not complete, because other daemons are changing secrets. Retry to complete the rotation.",
    {
      retryAfterSeconds: 1,
    },
  );
}
