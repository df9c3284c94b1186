import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { writePrivateFile } from "../platform/write-private-file.js";
import type { LeaseHolder } from "../storage/lease-store.js";

/** Name of the file in the state directory that contains the id of the daemon. */
const fileName = "instance-id";
const idPattern = /^[0-9a-f-]{36}$/;

/** This daemon among the daemons with the same primary. */
export interface OwnInstance extends LeaseHolder {
  /** Origin at which the other daemons call this one. Undefined if the operator has not configured it. */
  readonly url: string | undefined;
  readonly version: string;
  /** Start of this run as Unix time in milliseconds. */
  readonly startedAtMs: number;
}

interface OwnInstanceOptions {
  readonly stateDirectory: string;
  readonly instanceName: string;
  readonly instanceUrl: string | undefined;
}

/** Returns the identity of this run. The id is random, is stored in the state directory, and stays the same after a restart. */
export async function openOwnInstance(config: OwnInstanceOptions, version: string): Promise<OwnInstance> {
  const file = path.join(config.stateDirectory, fileName);
  const stored = (await readFile(file, "utf8").catch(() => "")).trim();
  const id = idPattern.test(stored) ? stored : randomUUID();
  if (id !== stored) await writePrivateFile(file, `${id}\n`);
  return { id, name: config.instanceName, run: randomUUID(), url: config.instanceUrl, version, startedAtMs: Date.now() };
}
