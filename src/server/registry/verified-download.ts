import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import type { ProgressLimit } from "./progress-limit.js";
import { RegistryError } from "./registry-error.js";

/** A SHA-256 digest, such as `sha256:` and 64 hexadecimal digits. */
export type Digest = `sha256:${string}`;

export interface ExpectedBlob {
  readonly digest: Digest;
  readonly sizeBytes: number;
}

/**
 * Writes a body to a new file and syncs it. Throws RegistryError `wrong-content` if the size or the digest is not the expected one. The
 * caller deletes the file after an error.
 */
export async function writeVerified(
  body: AsyncIterable<Uint8Array>,
  expected: ExpectedBlob,
  into: string,
  limit: ProgressLimit,
): Promise<void> {
  const hash = createHash("sha256");
  const file = await open(into, "wx", 0o600);
  try {
    let size = 0;
    for await (const part of body) {
      limit.refresh();
      size += part.length;
      if (size > expected.sizeBytes) throw wrongContent(expected, `more than ${expected.sizeBytes} bytes`);
      hash.update(part);
      await file.writeFile(part);
    }
    if (size !== expected.sizeBytes) throw wrongContent(expected, `${size} bytes instead of ${expected.sizeBytes}`);
    const digest = `sha256:${hash.digest("hex")}`;
    if (digest !== expected.digest) throw wrongContent(expected, `bytes with the digest ${digest}`);
    await file.sync();
  } finally {
    await file.close();
  }
}

function wrongContent({ digest }: ExpectedBlob, received: string): RegistryError {
  return new RegistryError("wrong-content", `sent ${received} for the blob ${digest}`);
}
