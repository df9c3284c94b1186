import { CommandError, usageError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import { exitCodes } from "../command/exit-codes.js";
import { refuseReadOnly } from "../config/refuse-read-only.js";
import { sanitizeForTerminal } from "./sanitize-for-terminal.js";
import type { Settings } from "../config/settings.js";

/** Whether somebody is there to answer: a terminal, and nobody said not to ask. */
export function canAsk({ terminal, flags, environment }: Context): boolean {
  const isCi = environment.CI !== undefined && environment.CI !== "false" && environment.CI !== "0";
  return (
    terminal.stdinIsTty && terminal.stderrIsTty && flags.input && !flags.json && environment.RUNTIMECTL_NO_INPUT === undefined && !isCi
  );
}

/** Questions go to stderr: stdout is for results. */
const promptContext = ({ io, signal }: Context) => ({ input: io.stdin, output: io.stderr, signal });

/** Asks for a secret; an asterisk shows for each character, so that a paste can be seen. `instead` names the flag for a run that is not interactive. */
export async function askSecret(context: Context, question: string, instead: string): Promise<string> {
  if (!canAsk(context)) throw usageError(`${question}: cannot ask, because this run is not interactive`, `use ${instead}`);
  const { password } = await import("@inquirer/prompts");
  return password({ message: question, mask: "*" }, promptContext(context));
}

/** Asks for a line of text. `instead` names the flag for a run that is not interactive. */
export async function askText(context: Context, question: string, instead: string): Promise<string> {
  if (!canAsk(context)) throw usageError(`${question}: cannot ask, because this run is not interactive`, `use ${instead}`);
  const { input } = await import("@inquirer/prompts");
  return (await input({ message: `${question}:` }, promptContext(context))).trim();
}

export interface Confirmation {
  /** What happens, with its consequence: "Delete @team/app with 3 versions". */
  readonly consequence: string;
  /** What a person types to agree. */
  readonly name: string;
  readonly settings: Settings;
}

/** Lets only the sure pass: the name typed, or `--yes`; on a production profile the profile's name, typed or by `--confirm`. */
export async function confirmDestruction(context: Context, { consequence, name, settings }: Confirmation): Promise<void> {
  const { flags } = context;
  refuseReadOnly(settings);
  const profile = settings.isProduction ? settings.profile?.value : undefined;
  if (profile !== undefined && flags.confirm === profile) return;
  if (profile !== undefined && flags.confirm !== undefined)
    throw usageError(`--confirm ${flags.confirm} is not the name of the profile in use`, `--confirm ${profile}`);
  if (profile === undefined && flags.yes) return;
  const expected = profile ?? name;
  if (context.confirm) {
    if (await context.confirm({ consequence, name: expected, isProduction: profile !== undefined })) return;
    throw declined();
  }
  const instead = profile === undefined ? "--yes" : `--confirm ${profile}`;
  if (!canAsk(context))
    throw usageError(`${sanitizeForTerminal(consequence)}: this needs a confirmation, and this run is not interactive`, `add ${instead}`);
  const { input } = await import("@inquirer/prompts");
  // A name from a server may be made of escape codes: it is typed as it is shown.
  const typedName = sanitizeForTerminal(expected);
  const what =
    profile === undefined ? `Type ${typedName} to confirm` : `This is PRODUCTION. Type the profile's name (${profile}) to confirm`;
  const typed = await input({ message: `${sanitizeForTerminal(consequence)}. ${what}:` }, promptContext(context));
  if (typed.trim() !== typedName) throw declined();
}

/**
 * Lets only the sure pass where this machine is changed, which no profile stands for: `--yes`, or a person who agrees, by typing `name`
 * where one is given.
 */
export async function confirmOnMachine(context: Context, { consequence, name }: { consequence: string; name?: string }): Promise<void> {
  if (context.flags.yes) return;
  if (context.confirm) {
    if (await context.confirm({ consequence, name: name ?? "yes", isProduction: false })) return;
    throw declined();
  }
  if (!canAsk(context)) throw usageError(`${consequence}: this needs a confirmation, and this run is not interactive`, "add --yes");
  const { input, confirm } = await import("@inquirer/prompts");
  const isAgreed =
    name === undefined
      ? await confirm({ message: `${consequence}?`, default: false }, promptContext(context))
      : (await input({ message: `${consequence}. Type ${name} to confirm:` }, promptContext(context))).trim() === name;
  if (!isAgreed) throw declined();
}

function declined(): CommandError {
  return new CommandError("DECLINED", "not confirmed; nothing was changed", { exitCode: exitCodes.declined });
}
