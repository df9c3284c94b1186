import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { seal, toSecretsKey, unseal, valueBytes } from "../../../../src/server/secrets/secret-cipher.js";

const key = toSecretsKey(randomBytes(32));
const associatedData = "@team/shop STRIPE_KEY";

describe("an encrypted secret", () => {
  test.each(["x", "sk_live_1234", "two\nlines", "€ and 🔑", "y".repeat(32 * 1024)])(
    "can be decrypted with its key and context (case number %#)",
    (value) => {
      const sealed = seal(key, value, associatedData);
      expect(unseal(key, sealed, associatedData)).toBe(value);
      expect(sealed.keyId).toBe(key.id);
      expect(valueBytes(sealed)).toBe(Buffer.byteLength(value));
      expect(JSON.stringify(sealed)).not.toContain(value.length > 1 ? value : JSON.stringify(value));
    },
  );

  test("is different each time the same value is encrypted", () => {
    expect(seal(key, "same", associatedData).box).not.toBe(seal(key, "same", associatedData).box);
  });

  test("cannot be decrypted with another key, another context or a changed bit", () => {
    const sealed = seal(key, "value", associatedData);
    expect(() => unseal(toSecretsKey(randomBytes(32)), sealed, associatedData)).toThrow();
    expect(() => unseal(key, sealed, "@other/shop STRIPE_KEY")).toThrow();
    const bytes = Buffer.from(sealed.box, "base64");
    for (let index = 0; index < bytes.length; index += 1) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(index) ^ 1, index);
      expect(() => unseal(key, { ...sealed, box: changed.toString("base64") }, associatedData), String(index)).toThrow();
    }
    for (const length of [0, 11, 27, bytes.length - 1])
      expect(() => unseal(key, { ...sealed, box: bytes.subarray(0, length).toString("base64") }, associatedData), String(length)).toThrow();
  });

  test("contains a key ID that changes with each byte of the key", () => {
    const bytes = randomBytes(32);
    const other = Buffer.from(bytes);
    other.writeUInt8(other.readUInt8(31) ^ 1, 31);
    expect(toSecretsKey(bytes).id).toMatch(/^[0-9a-f]{16}$/);
    expect(toSecretsKey(bytes).id).not.toBe(toSecretsKey(other).id);
  });
});
