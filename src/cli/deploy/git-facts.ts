import { execFile } from "node:child_process";
import { promisify } from "node:util";

const gitTimeoutMs = 5_000;

export interface GitFacts {
  readonly commit?: string;
  readonly dirty?: boolean;
  readonly by?: string;
}

/** What git says about a folder; nothing where there is no git, no repository or no commit. */
export async function readGitFacts(folder: string): Promise<GitFacts> {
  const [commit, status, by] = await Promise.all([
    git(folder, "rev-parse", "--verify", "HEAD"),
    git(folder, "status", "--porcelain", "--", "."),
    git(folder, "config", "user.name"),
  ]);
  return {
    ...(commit && { commit }),
    ...(commit && status !== undefined && { dirty: status !== "" }),
    ...(by && { by }),
  };
}

/** A repository may name programs that git runs for it; the one for a quicker status is not needed. */
async function git(folder: string, ...words: readonly string[]): Promise<string | undefined> {
  const args = ["--no-optional-locks", "-c", "core.fsmonitor=false", ...words];
  return promisify(execFile)("git", args, { cwd: folder, timeout: gitTimeoutMs, maxBuffer: 16 * 1024 * 1024 }).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
}
