import { rename, rm, symlink } from "node:fs/promises";
import path from "node:path";
import type { TestDaemon } from "./start-daemon.js";

/** Runs `act`. Meanwhile, uploads fail in the daemon with the unexpected error ELOOP, because a path leads to itself. */
export async function inUnforeseenFailure<Result>(
  { directory }: Pick<TestDaemon, "directory">,
  act: () => Promise<Result>,
): Promise<Result> {
  const spool = path.join(directory, "state", "spool");
  await rename(spool, `${spool}.away`);
  await symlink("spool", spool);
  try {
    return await act();
  } finally {
    await rm(spool);
    await rename(`${spool}.away`, spool);
  }
}
