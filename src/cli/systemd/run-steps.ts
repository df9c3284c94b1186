import path from "node:path";
import { CommandError, usageError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import { exitCodes } from "../command/exit-codes.js";
import { describeFailure } from "../command/failure.js";
import { confirmOnMachine } from "../output/prompts.js";
import { serviceMode, type ServiceMode } from "./service-mode.js";
import type { ServiceStep } from "./service-step.js";
import { assertSystemd } from "./systemctl.js";

/** The flags of commands that change the systemd service. */
export const serviceOptions = [
  { flags: "--user", description: "Use your user's service instead of the system service" },
  { flags: "-n, --dry-run", description: "Show the steps without running them" },
  {
    flags: "--root <folder>",
    description: "Change the file system below this folder, such as an image, without starting or stopping services",
  },
];

export interface ServiceOptions {
  readonly user?: boolean;
  readonly dryRun?: boolean;
  readonly root?: string;
}

/**
 * Returns the paths of the system service or of the user service. Rejects `--root` for the user service, because systemctl cannot enable
 * user units in another root.
 */
export function chosenMode({ workingDirectory, directories }: Context, { user = false, root }: ServiceOptions): ServiceMode {
  if (user && root !== undefined) throw usageError("--root and --user cannot be used together");
  return serviceMode(user, directories.home, root === undefined ? undefined : path.resolve(workingDirectory, root));
}

/** The steps that change the systemd service, and the texts of the confirmation. */
export interface ServicePlan {
  readonly mode: ServiceMode;
  readonly options: ServiceOptions;
  readonly steps: readonly ServiceStep[];
  /** Consequence of the change, which the confirmation shows. Does not end in a question mark. */
  readonly consequence: string;
  /** The text that the user types to confirm an irreversible change. */
  readonly typedName?: string;
  /** Additional fields for the JSON document of the command. */
  readonly facts: object;
}

/** Shows the needed steps, asks the user for confirmation, and runs the steps in order. Resolves with true if a step changed something. */
export async function runSteps(context: Context, plan: ServicePlan): Promise<boolean> {
  const { mode, options, consequence, typedName, facts } = plan;
  const needed = plan.steps.filter(({ isNeeded }) => isNeeded);
  const dryRun = options.dryRun ?? false;
  const show = () =>
    context.output.result(
      {
        mode: mode.name,
        dryRun,
        changed: !dryRun && needed.length > 0,
        steps: plan.steps.map(({ description, isNeeded, content }) => ({ description, needed: isNeeded, ...(content && { content }) })),
        ...facts,
      },
      needed.length === 0 ? "nothing to do" : needed.map(({ description }) => `${dryRun ? "would " : ""}${description}`).join("\n"),
    );
  if (!dryRun && needed.length > 0) {
    assertAllowed(mode, options);
    if (options.root === undefined) assertSystemd();
    if (!context.flags.yes) context.output.note(`this will:\n${needed.map(({ description }) => `  ${description}`).join("\n")}`);
    await confirmOnMachine(context, { consequence, ...(typedName !== undefined && { name: typedName }) });
    await doAll(needed);
  }
  show();
  return !dryRun && needed.length > 0;
}

async function doAll(steps: readonly ServiceStep[]): Promise<void> {
  for (const [index, { description, act }] of steps.entries()) {
    try {
      await act();
    } catch (error) {
      const done = steps.slice(0, index).map((step) => `done: ${step.description}`);
      const { message, hint, details = [] } = describeFailure(error);
      throw new CommandError("SERVICE_STEP_FAILED", message, {
        exitCode: exitCodes.failed,
        hint: hint ?? "fix the problem and run the command again; completed steps are not repeated",
        details: [...details, ...done, `failed: ${description}`],
        cause: error,
      });
    }
  }
}

/** Throws NOT_ROOT if a user other than root tries to change the system service. */
function assertAllowed({ name }: ServiceMode, { root }: ServiceOptions): void {
  if (name === "user" || root !== undefined || process.getuid?.() === 0) return;
  throw new CommandError("NOT_ROOT", "only root can change system services; nothing changed", {
    exitCode: exitCodes.failed,
    hint: "use sudo, preview with --dry-run, or install a user service with --user",
  });
}
