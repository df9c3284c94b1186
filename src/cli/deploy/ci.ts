import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Variables } from "../config/user-directories.js";
import { appendFile } from "node:fs/promises";
import path from "node:path";
import type { Context } from "../command/command.js";

const gitTimeoutMs = 5_000;

interface GitFacts {
  readonly commit?: string;
  readonly dirty?: boolean;
  readonly by?: string;
}

/**
 * Returns the commit of a folder, whether it has uncommitted changes, and the git user. Empty if git, the repository or a commit is
 * missing.
 */
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

/**
 * Runs git and returns its output, or undefined if git fails. Disables the git setting `core.fsmonitor`, with which the author of a
 * repository could make git run a program.
 */
async function runGit(words: readonly string[], folder: string, env: Variables): Promise<string | undefined> {
  const args = ["--no-optional-locks", "-c", "core.fsmonitor=false", ...words];
  return promisify(execFile)("git", args, { cwd: folder, env, timeout: gitTimeoutMs, maxBuffer: 16 * 1024 * 1024 }).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
}

/** Facts about a deployment for the GitHub Actions step outputs and job summary. */
interface DeploymentFacts {
  readonly kind: string;
  readonly name: string;
  readonly version: string;
  readonly action: string;
  readonly url: string;
  readonly digest: string;
}

/**
 * Writes the step outputs `url`, `version` and `digest` of GitHub Actions, and a table for the job summary. Outside of GitHub Actions,
 * writes nothing.
 */
export async function writeGitHubOutputs(context: Context, facts: DeploymentFacts): Promise<void> {
  const { GITHUB_OUTPUT: outputs, GITHUB_STEP_SUMMARY: summary } = context.environment;
  const { url, version, digest } = facts;
  const lines = Object.entries({ url, version, digest }).map(([name, value]) => `${name}=${value}\n`);
  await append(context, "GITHUB_OUTPUT", outputs, lines.join(""));
  const cells = [`\`${facts.name}\``, facts.kind, version, facts.action, url, `\`${digest}\``];
  const table = `| Name | Kind | Version | Done | URL | Digest |\n| --- | --- | --- | --- | --- | --- |\n| ${cells.join(" | ")} |\n\n`;
  await append(context, "GITHUB_STEP_SUMMARY", summary, table);
}

/** Appends text to the file that a variable names. If this fails, prints only a warning, because the deployment itself has succeeded. */
async function append(context: Context, variable: string, file: string | undefined, text: string): Promise<void> {
  if (file === undefined) return;
  try {
    await appendFile(path.resolve(context.workingDirectory, file), text);
  } catch (error) {
    context.output.warn(`${variable}: ${file} cannot be written: ${(error as NodeJS.ErrnoException).code}`);
  }
}
