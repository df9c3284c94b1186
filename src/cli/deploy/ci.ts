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

/** What the next steps of a workflow want to know of a deployment. */
interface DeploymentFacts {
  readonly kind: string;
  readonly name: string;
  readonly version: string;
  readonly action: string;
  readonly url: string;
  readonly digest: string;
}

/** In GitHub Actions: the outputs `url`, `version` and `digest` of the step, and a table in the summary of the job. */
export async function tellGitHub(context: Context, facts: DeploymentFacts): Promise<void> {
  const { GITHUB_OUTPUT: outputs, GITHUB_STEP_SUMMARY: summary } = context.environment;
  const { url, version, digest } = facts;
  const lines = Object.entries({ url, version, digest }).map(([name, value]) => `${name}=${value}\n`);
  await append(context, "GITHUB_OUTPUT", outputs, lines.join(""));
  const cells = [`\`${facts.name}\``, facts.kind, version, facts.action, url, `\`${digest}\``];
  const table = `| Name | Kind | Version | Done | URL | Digest |\n| --- | --- | --- | --- | --- | --- |\n| ${cells.join(" | ")} |\n\n`;
  await append(context, "GITHUB_STEP_SUMMARY", summary, table);
}

/** The deployment is there, whatever becomes of these lines. */
async function append(context: Context, variable: string, file: string | undefined, text: string): Promise<void> {
  if (file === undefined) return;
  try {
    await appendFile(path.resolve(context.workingDirectory, file), text);
  } catch (error) {
    context.output.warn(`${variable}: ${file} cannot be written: ${(error as NodeJS.ErrnoException).code}`);
  }
}
