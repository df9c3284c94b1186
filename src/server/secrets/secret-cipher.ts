import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

const algorithm = "aes-256-gcm";
export const keyBytes = 32;
/** Length of a nonce in bytes. GCM is designed for nonces of 96 bits (NIST SP 800-38D, section 5.2.1.1). */
const nonceBytes = 12;
const tagBytes = 16;

/** A key that encrypts the secrets of workers. */
export interface SecretsKey {
  /** Identifier that is calculated from the key. It reveals nothing about the key, so it can be stored and shown. */
  readonly id: string;
  readonly bytes: Buffer;
}

/** An encrypted value in the form in which it is stored. */
export interface SealedValue {
  readonly keyId: string;
  /** Nonce, ciphertext and authentication tag, in Base64. */
  readonly box: string;
}

/** Creates a key from the 32 bytes of an AES-256 key. */
export function toSecretsKey(bytes: Buffer): SecretsKey {
  return { id: createHash("sha256").update("runtimed secrets key\0").update(bytes).digest("hex").slice(0, 16), bytes };
}

/**
 * Encrypts a value and authenticates `associatedData`, the owner and name of the secret. A copy of the encrypted value can therefore not be
 * decrypted as another secret.
 */
export function seal(key: SecretsKey, value: string, associatedData: string): SealedValue {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key.bytes, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(associatedData));
  const box = Buffer.concat([nonce, cipher.update(value, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return { keyId: key.id, box: box.toString("base64") };
}

/** Decrypts a value. Throws if the encrypted value was changed, or if it was encrypted with another key or for another owner or name. */
export function unseal(key: SecretsKey, { box }: SealedValue, associatedData: string): string {
  const bytes = Buffer.from(box, "base64");
  const nonce = bytes.subarray(0, nonceBytes);
  const decipher = createDecipheriv(algorithm, key.bytes, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(associatedData));
  decipher.setAuthTag(bytes.subarray(-tagBytes));
  return decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, "utf8") + decipher.final("utf8");
}

/** Returns the size of an encrypted value in UTF-8 bytes, without decrypting it. */
export function valueBytes({ box }: SealedValue): number {
  return Buffer.byteLength(box, "base64") - nonceBytes - tagBytes;
}
