import { CommandError, usageError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import { exitCodes } from "../command/exit-codes.js";
import { refuseReadOnly } from "../config/refuse-read-only.js";
import { styled } from "./styles.js";
import { sanitizeForTerminal } from "./sanitize-for-terminal.js";
import type { Settings } from "../config/settings.js";

/**
 * Whether the command can prompt the user. This requires that stdin and stderr are terminals, and that no flag or variable disables
 * prompts.
 */
export function canAsk({ terminal, flags, environment }: Context): boolean {
  const isCi = environment.CI !== undefined && environment.CI !== "false" && environment.CI !== "0";
  return (
    terminal.stdinIsTty && terminal.stderrIsTty && flags.input && !flags.json && environment.RUNTIMECTL_NO_INPUT === undefined && !isCi
  );
}

/** Returns the streams for prompts. The output stream is stderr, because stdout contains only results. */
const promptContext = ({ io, signal }: Context) => ({ input: io.stdin, output: io.stderr, signal });

/**
 * Prompts for a secret and shows an asterisk per character. Shows no check mark after the input, because the secret is not verified yet. If
 * prompts are not possible, the error suggests the flag `instead`.
 */
export async function askSecret(context: Context, question: string, instead: string): Promise<string> {
  if (!canAsk(context)) throw usageError(`cannot prompt (${question}): this run is not interactive`, `use ${instead}`);
  const { password } = await import("@inquirer/prompts");
  return password(
    { message: question, mask: "*", theme: { prefix: { done: styled("bold", "?", context.terminal) } } },
    promptContext(context),
  );
}

/** Prompts for one line of text. If prompts are not possible, the error suggests the flag `instead`. */
export async function askText(context: Context, question: string, instead: string): Promise<string> {
  if (!canAsk(context)) throw usageError(`cannot prompt (${question}): this run is not interactive`, `use ${instead}`);
  const { input } = await import("@inquirer/prompts");
  return (await input({ message: `${question}:` }, promptContext(context))).trim();
}

export interface Confirmation {
  /** Consequence of the command, which the prompt shows, such as "Delete @team/app with 3 versions". */
  readonly consequence: string;
  /** The text that the user types to confirm the command. */
  readonly name: string;
  readonly settings: Settings;
}

/**
 * Resolves if the user confirms the command by typing `name`, or by `--yes`. With a production profile, the user must type the profile name
 * or pass it in `--confirm`. Otherwise throws DECLINED.
 */
export async function confirmDestruction(context: Context, { consequence, name, settings }: Confirmation): Promise<void> {
  const { flags } = context;
  refuseReadOnly(settings);
  const profile = settings.isProduction ? settings.profile?.value : undefined;
  if (profile !== undefined && flags.confirm === profile) return;
  if (profile !== undefined && flags.confirm !== undefined)
    throw usageError(`--confirm ${flags.confirm} does not name the profile in use, so nothing changed`, `--confirm ${profile}`);
  if (profile === undefined && flags.yes) return;
  const expected = profile ?? name;
  if (context.confirm) {
    if (await context.confirm({ consequence, name: expected, isProduction: profile !== undefined })) return;
    throw declined();
  }
  const instead = profile === undefined ? "--yes" : `--confirm ${profile}`;
  if (!canAsk(context))
    throw usageError(`${sanitizeForTerminal(consequence)}: a confirmation is required, but this run is not interactive`, `add ${instead}`);
  const { input } = await import("@inquirer/prompts");
  // The prompt shows control characters of a name escaped, so the user types the escaped form.
  const typedName = sanitizeForTerminal(expected);
  const what = profile === undefined ? `Type ${typedName} to confirm` : `This is PRODUCTION. Type the profile name (${profile}) to confirm`;
  const typed = await input({ message: `${sanitizeForTerminal(consequence)}. ${what}:` }, promptContext(context));
  if (typed.trim() !== typedName) throw declined();
}

/**
 * Asks the user to confirm a change of this machine by typing `name`, or "yes" if `name` is not set. With `--yes`, asks nothing. Throws
 * DECLINED if the user does not confirm.
 */
export async function confirmOnMachine(context: Context, { consequence, name }: { consequence: string; name?: string }): Promise<void> {
  if (context.flags.yes) return;
  if (context.confirm) {
    if (await context.confirm({ consequence, name: name ?? "yes", isProduction: false })) return;
    throw declined();
  }
  if (!canAsk(context)) throw usageError(`${consequence}: a confirmation is required, but this run is not interactive`, "add --yes");
  const { input, confirm } = await import("@inquirer/prompts");
  const isAgreed =
    name === undefined
      ? await confirm({ message: `${consequence}?`, default: false }, promptContext(context))
      : (await input({ message: `${consequence}. Type ${name} to confirm:` }, promptContext(context))).trim() === name;
  if (!isAgreed) throw declined();
}

function declined(): CommandError {
  return new CommandError("DECLINED", "the change was not confirmed; nothing changed", { exitCode: exitCodes.declined });
}
