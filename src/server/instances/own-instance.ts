import { createHmac, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { writePrivateFile } from "../platform/write-private-file.js";
import type { LeaseHolder } from "../storage/lease-store.js";

/** Name of the file in the state directory that contains the id of the daemon. */
const fileName = "instance-id";
/** Id of a daemon without a primary. Such a daemon has no connection to other daemons, so the id need not be unique. */
const idWithoutPrimary = "local";
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
  /** Undefined for a daemon without a primary. */
  readonly primary: object | undefined;
}

/**
 * Returns the identity of this run. With a primary, the id is random, is stored in the state directory, and stays the same after a restart.
 */
export async function openOwnInstance(config: OwnInstanceOptions, version: string): Promise<OwnInstance> {
  const id = config.primary ? await openId(config.stateDirectory) : idWithoutPrimary;
  return { id, name: config.instanceName, run: randomUUID(), url: config.instanceUrl, version, startedAtMs: Date.now() };
}

/**
 * Returns the proof that the responding daemon is this run: an HMAC-SHA-256 as base64url. `run` is the secret key of the HMAC. Only the
 * primary and the daemons with this primary store `run`.
 */
export function proofOf({ id, run }: Pick<LeaseHolder, "id" | "run">, challenge: string): string {
  return createHmac("sha256", run).update(`${id} ${challenge}`).digest("base64url");
}

async function openId(stateDirectory: string): Promise<string> {
  const file = path.join(stateDirectory, fileName);
  const stored = (await readFile(file, "utf8").catch(() => "")).trim();
  if (idPattern.test(stored)) return stored;
  const id = randomUUID();
  await writePrivateFile(file, `${id}\n`);
  return id;
}
