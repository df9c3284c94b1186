import { cp, mkdir, rm } from "node:fs/promises";
import path from "node:path";
import type { Sqld } from "./start-sqld.js";
import { temporaryDirectory } from "./temporary-directory.js";

/** Returns a function that replaces the data of the primary by its data at the time of the call. */
export async function backUpPrimary(sqld: Sqld): Promise<() => Promise<void>> {
  const data = path.join(sqld.directory, "data");
  const copy = path.join(await temporaryDirectory(), "data");
  await sqld.kill();
  await cp(data, copy, { recursive: true });
  await sqld.restart();
  return async () => {
    await sqld.kill();
    await rm(data, { recursive: true });
    await cp(copy, data, { recursive: true });
    await sqld.restart();
  };
}

/** Starts the primary again with an empty directory. */
export async function emptyPrimary(sqld: Sqld): Promise<void> {
  const data = path.join(sqld.directory, "data");
  await sqld.kill();
  await rm(data, { recursive: true });
  await mkdir(data);
  await sqld.restart();
}
