import { setTimeout as delay } from "node:timers/promises";
import { ApiError } from "../../shared/api-error.js";
import type { Log } from "../log/log.js";
import { KeyedLock } from "../platform/keyed-lock.js";
import { seal, unseal, type SecretsKey } from "./secret-cipher.js";
import { placeOf, putSecret, type SecretRecord, type SecretRecords, type StoredSecret } from "./secret-records.js";
import type { SecretsKeys } from "./secrets-keys.js";

/** Records that are encrypted again in one transaction: about 1 MB of values at most. */
const batchRecords = 32;
/** Between two passes over the records; 50 of them outlast the time in which a daemon follows its primary. */
const passDelayMs = 200;
const maximumPasses = 50;

interface KeyRotationOptions {
  readonly records: SecretRecords;
  readonly keys: SecretsKeys;
  readonly log: Log;
}

/**
 * Encrypts all secrets with another key. The daemon's own file first gets the new key beside the old one, then each record changes, then
 * the old key is deleted: a crash leaves both keys in the file, and the next start finishes the rotation.
 */
export class KeyRotation {
  readonly #records: SecretRecords;
  readonly #keys: SecretsKeys;
  readonly #log: Log;
  /** One change of the keys at a time. */
  readonly #lock = new KeyedLock();

  constructor({ records, keys, log }: KeyRotationOptions) {
    this.#records = records;
    this.#keys = keys;
    this.#log = log;
  }

  /**
   * Stores something that is encrypted with the given key, which is created if needed. No rotation ends meanwhile: the key stays known.
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

  /** Finishes a rotation that a crash interrupted. */
  async finish(): Promise<void> {
    const { current } = this.#keys;
    if (!current || !this.#keys.isManaged || this.#keys.count === 1) return;
    try {
      const reencrypted = await this.#reencrypt(current);
      await this.#keys.dropOld();
      this.#log.info({ keyId: current.id, reencrypted }, "interrupted rotation of the key for secrets finished");
    } catch (error) {
      this.#log.warn(
        { err: error },
        "interrupted rotation of the key for secrets could not be finished; run runtimectl secrets rotate-key",
      );
    }
  }

  /** The operator's keys: the first one encrypts from now on. */
  async #useFirstKey(): Promise<{ keyId: string; reencrypted: number }> {
    const key = await this.#keys.currentOrCreated();
    const reencrypted = await this.#reencrypt(key);
    if (reencrypted > 0) return { keyId: key.id, reencrypted };
    throw new ApiError(
      "SECRETS_KEY_UNCHANGED",
      `All secrets are encrypted with the first key (${key.id}) of ${this.#keys.source.name}. Add a new key as the first line of that file for each daemon, restart the daemons, then rotate again.`,
    );
  }

  /** The values that have another key than this one; without those that cannot be decrypted, which no key can save. */
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
      return key && unseal(key, secret.sealed, placeOf(secret));
    } catch {
      return undefined;
    }
  }

  /** Returns the number of values that had another key. */
  async #reencrypt(key: SecretsKey): Promise<number> {
    let count = 0;
    for (let pass = 1; pass <= maximumPasses; pass += 1) {
      const outdated = this.#outdated(key.id);
      if (outdated.length === 0) return count;
      // Another daemon changed a record that was read here before: the replica has the change within its sync interval.
      if (pass > 1) await delay(passDelayMs);
      for (let start = 0; start < outdated.length; start += batchRecords) {
        const part = outdated.slice(start, start + batchRecords);
        const changes = part.map(({ kind, secret, value, revision }) =>
          putSecret(kind, { ...secret, sealed: seal(key, value, placeOf(secret)) }, revision),
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
  return new ApiError("KEY_STORE_UNAVAILABLE", "Secrets are being changed by other daemons. Try again; the rotation continues.", {
    retryAfterSeconds: 1,
  });
}
