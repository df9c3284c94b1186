import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

const algorithm = "aes-256-gcm";
export const keyBytes = 32;
/** NIST SP 800-38D, 5.2.1.1: GCM is built for nonces of 96 bits. */
const nonceBytes = 12;
const tagBytes = 16;

/** A key that encrypts secrets. */
export interface SecretsKey {
  /** Derived from the key; safe to store and to show. */
  readonly id: string;
  readonly bytes: Buffer;
}

/** An encrypted value, as it is stored. */
export interface SealedValue {
  readonly keyId: string;
  /** Nonce, ciphertext and authentication tag, in Base64. */
  readonly box: string;
}

/** `bytes` are the 32 bytes of an AES-256 key. */
export function toSecretsKey(bytes: Buffer): SecretsKey {
  return { id: createHash("sha256").update("runtimed secrets key\0").update(bytes).digest("hex").slice(0, 16), bytes };
}

/** Encrypts a value. `place` is authenticated with it: a box that is copied to another place cannot be opened there. */
export function seal(key: SecretsKey, value: string, place: string): SealedValue {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key.bytes, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(place));
  const box = Buffer.concat([nonce, cipher.update(value, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return { keyId: key.id, box: box.toString("base64") };
}

/** Decrypts a value. Throws when it was changed, or sealed with another key or for another place. */
export function unseal(key: SecretsKey, { box }: SealedValue, place: string): string {
  const bytes = Buffer.from(box, "base64");
  const nonce = bytes.subarray(0, nonceBytes);
  const decipher = createDecipheriv(algorithm, key.bytes, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(place));
  decipher.setAuthTag(bytes.subarray(-tagBytes));
  return decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, "utf8") + decipher.final("utf8");
}

/** Returns the UTF-8 bytes of the value in a box. */
export function valueBytes({ box }: SealedValue): number {
  return Buffer.byteLength(box, "base64") - nonceBytes - tagBytes;
}
