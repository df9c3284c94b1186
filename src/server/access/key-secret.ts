import { hash, randomBytes } from "node:crypto";

/** How every generated key begins. */
export const keyPrefixLiteral = "rtk_";
const randomByteCount = 32;
/** How much of a key is shown in lists and logs. */
const shownCharacterCount = 12;

/** A new secret: `rtk_` and 43 base64url characters. */
export function createKeySecret(): string {
  return keyPrefixLiteral + randomBytes(randomByteCount).toString("base64url");
}

/** The leading part of a key that is safe to show. */
export function shownPrefixOf(secret: string): string {
  return secret.slice(0, shownCharacterCount);
}

/** The text with every key of ours taken out; its shown prefix stays. */
export function redactKeys(text: string): string {
  return text.replace(/(rtk_[\w-]{8})[\w-]{35}/g, "$1…");
}

/** SHA-256 in hex: all that is ever stored of a key. */
export function hashKeySecret(secret: string): string {
  return hash("sha256", secret);
}
