import { randomBytes } from "node:crypto";
import { chmod, mkdir, open, rm, stat } from "node:fs/promises";
import path from "node:path";
import { readFileIfThere } from "../config/read-file-if-there.js";
import type { Systemctl } from "./systemctl.js";
import type { UnitFile } from "./unit-files.js";

const rootKeyBytes = 32;

/** One step of a change of the systemd service, such as writing a unit file. */
export interface ServiceStep {
  /** Description of the step for the user, such as `write /etc/systemd/system/runtimed.service`. */
  readonly description: string;
  /** Whether the step would change something. */
  readonly isNeeded: boolean;
  /** Content of the file that the step writes. Undefined for a file with a secret. */
  readonly content?: string;
  readonly act: () => Promise<unknown>;
}

/** Returns the step that writes a unit file. The step replaces the file atomically and makes it readable for all users. */
export function writeUnit({ path: file, content }: UnitFile): ServiceStep {
  const present = readFileIfThere(file);
  return {
    description: `${present === undefined ? "write" : "replace"} ${file}`,
    isNeeded: present !== content,
    content,
    act: async () => {
      await mkdir(path.dirname(file), { recursive: true });
      const { default: writeFileAtomic } = await import("write-file-atomic");
      await writeFileAtomic(file, content, { mode: 0o644 });
    },
  };
}

/** Returns the step that creates a file with a new root key, mode 0600. If the file already exists, the step only corrects the mode. */
export async function makeRootKey(file: string): Promise<ServiceStep> {
  const present = await stat(file).catch(() => undefined);
  return {
    description: present ? `set mode 0600 on ${file}` : `create a root key in ${file}`,
    isNeeded: present === undefined || (present.mode & 0o077) !== 0,
    act: async () => {
      if (present) return chmod(file, 0o600);
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
      const handle = await open(file, "wx", 0o600);
      await handle.writeFile(`${randomBytes(rootKeyBytes).toString("base64url")}\n`);
      await handle.sync();
      await handle.close();
    },
  };
}

export async function remove(file: string): Promise<ServiceStep> {
  const present = await stat(file).catch(() => undefined);
  return { description: `delete ${file}`, isNeeded: present !== undefined, act: () => rm(file, { recursive: true, force: true }) };
}

export function call(systemctl: Systemctl, words: readonly string[], isNeeded = true): ServiceStep {
  return { description: `run ${systemctl.describe(words)}`, isNeeded, act: () => systemctl.run(words) };
}
