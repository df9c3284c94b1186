import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Variables } from "../config/user-directories.js";

const gitTimeoutMs = 5_000;

export interface GitFacts {
  readonly commit?: string;
  readonly dirty?: boolean;
  readonly by?: string;
}

/** What git says about a folder; nothing where there is no git, no repository or no commit. */
export async function readGitFacts(folder: string, variables: Variables): Promise<GitFacts> {
  const git = (...words: readonly string[]) => runGit(words, folder, variables);
  const [commit, status, by] = await Promise.all([
    git("rev-parse", "--verify", "HEAD"),
    git("status", "--porcelain", "--", "."),
    git("config", "user.name"),
  ]);
  return {
    ...(commit && { commit }),
    ...(commit && status !== undefined && { dirty: status !== "" }),
    ...(by && { by }),
  };
}

/** A repository may name programs that git runs for it; the one for a quicker status is not needed. */
async function runGit(words: readonly string[], folder: string, env: Variables): Promise<string | undefined> {
  const args = ["--no-optional-locks", "-c", "core.fsmonitor=false", ...words];
  return promisify(execFile)("git", args, { cwd: folder, env, timeout: gitTimeoutMs, maxBuffer: 16 * 1024 * 1024 }).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
}
