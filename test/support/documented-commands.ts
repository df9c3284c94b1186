import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { exceptions, followedCommands, type CommandException } from "./documented-exceptions.js";
import type { TestDaemon } from "./start-daemon.js";
import { temporaryDirectory } from "./temporary-directory.js";

export const repository = fileURLToPath(new URL("../..", import.meta.url));
/** The daemon's origin in the documentation. */
const documentedHost = "127.0.0.1:8000";

export interface CodeBlock {
  readonly language: string;
  readonly body: string;
  /** Title of the section that contains the block. */
  readonly section: string;
}

/** One command of a `sh` block, with the outputs that the comments `# → …` below it promise. */
export interface DocumentedCommand {
  readonly text: string;
  readonly expected: readonly string[];
  readonly exception: CommandException | undefined;
}

/** A step of a page: a command, or a file whose name is the first comment of its block. */
export type Step =
  | { readonly kind: "command"; readonly command: DocumentedCommand }
  | { readonly kind: "file"; readonly name: string; readonly text: string };

/** Returns the Markdown files below a folder of the repository, as paths from its root. */
export async function pagesIn(folder: string): Promise<string[]> {
  const names = await readdir(path.join(repository, folder), { recursive: true });
  return names
    .filter((name) => name.endsWith(".md"))
    .map((name) => path.posix.join(folder, name))
    .toSorted();
}

export async function readPage(page: string): Promise<string> {
  return await readFile(path.join(repository, page), "utf8");
}

export function codeBlocksOf(text: string): CodeBlock[] {
  let section = "";
  return [...text.matchAll(/^#{1,4} (.+)$|^```(\w*)\n([^]*?)^```$/gm)].flatMap(([, title, language, body]) => {
    if (title !== undefined) section = title;
    return language === undefined || body === undefined ? [] : [{ language, body, section }];
  });
}

/** Returns the file name in the first comment of a block, such as `# greeter/manifest.yaml`. Never returns an absolute path. */
function fileNameOf({ language, body }: CodeBlock): string | undefined {
  return language === "sh" ? undefined : /^(?:#|\/\/|<!--|\/\*) ([\w@.][\w@./-]*\.[a-z]+)(?: -->| \*\/)?\n/.exec(body)?.[1];
}

/** Splits a shell script into commands: here-documents, continued lines and open quotes stay together. */
function splitCommands(script: string): { text: string; expected: string[] }[] {
  const commands: { text: string; expected: string[] }[] = [];
  let open = "";
  for (const line of script.split("\n")) {
    const promised = open === "" ? /^# → (.+?) *$/.exec(line)?.[1] : undefined;
    if (promised !== undefined) commands.at(-1)?.expected.push(promised);
    if (open === "" && (line.trim() === "" || line.startsWith("#"))) continue;
    open += `${line}\n`;
    if (isComplete(open)) {
      commands.push({ text: open.trimEnd(), expected: [] });
      open = "";
    }
  }
  return commands;
}

function isComplete(text: string): boolean {
  const delimiter = /<<-?\s*['"]?(\w+)['"]?/.exec(text)?.[1];
  if (delimiter !== undefined) return text.split("\n").slice(1).includes(delimiter);
  return !text.endsWith("\\\n") && (text.match(/'/g)?.length ?? 0) % 2 === 0;
}

export function stepsOf(page: string, text: string): Step[] {
  return codeBlocksOf(text).flatMap((block): Step[] => {
    const name = fileNameOf(block);
    if (name !== undefined) return [{ kind: "file", name, text: block.body }];
    if (block.language !== "sh") return [];
    return splitCommands(block.body).map((command) => ({
      kind: "command",
      command: { ...command, exception: exceptions.find((entry) => entry.page === page && entry.command.test(command.text)) },
    }));
  });
}

export interface PageRun {
  /** Temporary folder that is the home and the working directory of the commands. */
  readonly folder: string;
  readonly outputs: readonly { readonly command: DocumentedCommand; readonly output: string }[];
}

export interface RunOptions {
  /** Callback that prepares the folder before the first command. */
  readonly prepare?: (folder: string, daemon: TestDaemon) => Promise<void>;
  /** Replacements in commands, for paths and addresses of the reader's own machine. */
  readonly replace?: (folder: string, daemon: TestDaemon) => Readonly<Record<string, string>>;
  /** Shell scripts that replace programs of another machine, by program name. */
  readonly programs?: (folder: string, daemon: TestDaemon) => Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Ends the processes that the commands started. */
  readonly dispose?: (folder: string) => Promise<void>;
}

/**
 * Runs the files and commands of a page in order, in one shell that is signed in to a daemon. If a command fails, rejects with the output
 * of the shell.
 */
export async function runPage(page: string, daemon: TestDaemon, options: RunOptions = {}): Promise<PageRun> {
  const folder = await temporaryDirectory();
  const bin = path.join(folder, ".bin");
  await mkdir(bin);
  const programs = {
    runtimectl: `exec "${process.execPath}" "${path.join(repository, "bin/runtimectl.js")}" "$@"`,
    runtimed: `exec "${process.execPath}" "${path.join(repository, "bin/runtimed.js")}" "$@"`,
    // Commands that require root run only on pages whose options make these commands harmless.
    ...Object.fromEntries(["sudo", "systemctl"].map((name) => [name, `echo "${name} is not available in tests"; exit 1`])),
    ...options.programs?.(folder, daemon),
  };
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(path.join(bin, name), `#!/bin/bash\n${script}\n`);
    await chmod(path.join(bin, name), 0o755);
  }
  await writeFile(path.join(folder, ".curlrc"), "silent\nshow-error\n");
  await options.prepare?.(folder, daemon);
  onTestFinished(() => options.dispose?.(folder));

  const replacements = Object.entries({ [documentedHost]: new URL(daemon.url).host, ...options.replace?.(folder, daemon) });
  const adapt = (text: string) => replacements.reduce((result, [from, to]) => result.replaceAll(from, to), text);
  const steps = stepsOf(page, await readPage(page)).filter((step) => step.kind === "file" || step.command.exception === undefined);
  const env = {
    ...process.env,
    PATH: `${bin}:${process.env["PATH"] ?? ""}`,
    HOME: folder,
    npm_config_yes: "true",
    npm_config_prefix: path.join(folder, ".npm-global"),
    npm_config_update_notifier: "false",
    npm_config_cache: process.env["npm_config_cache"] ?? path.join(process.env["HOME"] ?? folder, ".npm"),
    ...options.env,
  };
  const signIn = `printf '%s\\n' '${daemon.rootKey}' | runtimectl auth login --url ${daemon.url} --key-stdin --quiet`;
  const script = [`{ ${signIn}; } >/dev/null`, ...steps.map((step, index) => adapt(scriptOf(step, index)))].join("\n");
  const { stdout } = await promisify(execFile)("/bin/bash", ["-e", "-o", "pipefail", "-c", script], {
    cwd: folder,
    env,
    maxBuffer: 1e8,
  }).catch(({ stdout: before = "", stderr: cause = "" }: { stdout?: string; stderr?: string }) => {
    throw new Error(`${page}: a documented command failed. Output so far:\n${before.slice(-4000)}\n${cause}`);
  });
  const parts = stdout.split(/\n<<<step \d+>>>\n/).slice(1);
  return {
    folder,
    outputs: steps.flatMap((step, index) => (step.kind === "command" ? [{ command: step.command, output: parts[index] ?? "" }] : [])),
  };
}

function scriptOf(step: Step, index: number): string {
  const mark = `printf '\\n<<<step %d>>>\\n' ${index}`;
  if (step.kind === "file")
    return `${mark}\nmkdir -p "$(dirname "${step.name}")"\ncat > "${step.name}" <<'DOCUMENTED_FILE'\n${step.text}DOCUMENTED_FILE`;
  const { text } = step.command;
  // Sends Ctrl-C to a command that runs until Ctrl-C.
  if (followedCommands.some((pattern) => pattern.test(text)))
    return `${mark}\n{ timeout --foreground --signal=INT 8 ${text} 2>&1 || test $? = 130 -o $? = 124; } </dev/null`;
  return `${mark}\n{ ${text}\n} 2>&1`;
}
