import path from "node:path";
import { CommandError, usageError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import { exitCodes } from "../command/exit-codes.js";
import { describeFailure } from "../command/failure.js";
import { confirmOnMachine } from "../output/prompts.js";
import { serviceMode, type ServiceMode } from "./service-mode.js";
import type { ServiceStep } from "./service-step.js";
import { assertSystemd } from "./systemctl.js";

/** The flags of commands that change the service. */
export const serviceOptions = [
  { flags: "--user", description: "The service of the user who runs this, instead of the machine's" },
  { flags: "-n, --dry-run", description: "Show what would be done, and do nothing" },
  { flags: "--root <folder>", description: "Work on the file system below this folder, such as an image, and start or stop nothing" },
];

export interface ServiceOptions {
  readonly user?: boolean;
  readonly dryRun?: boolean;
  readonly root?: string;
}

/** The mode that was asked for. systemd enables nothing of a user in another file system than its own. */
export function chosenMode({ workingDirectory, directories }: Context, { user = false, root }: ServiceOptions): ServiceMode {
  if (user && root !== undefined) throw usageError("--root is for the machine's service, not for --user");
  return serviceMode(user, directories.home, root === undefined ? undefined : path.resolve(workingDirectory, root));
}

/** What to do in a service mode, and how to ask for it. */
export interface ServicePlan {
  readonly mode: ServiceMode;
  readonly options: ServiceOptions;
  readonly steps: readonly ServiceStep[];
  /** The question, without its question mark. */
  readonly consequence: string;
  /** Typed to agree, where something is lost for good. */
  readonly typedName?: string;
  /** More for the document. */
  readonly facts: object;
}

/** Shows the steps that are needed, asks, and does them in order; false when nothing was done. */
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
        hint: hint ?? "mend that and run this again: what is done is not done twice",
        details: [...details, ...done, `failed: ${description}`],
        cause: error,
      });
    }
  }
}

/** The machine's service is root's to change. */
function assertAllowed({ name }: ServiceMode, { root }: ServiceOptions): void {
  if (name === "user" || root !== undefined || process.getuid?.() === 0) return;
  throw new CommandError("NOT_ROOT", "the machine's services are root's to change; nothing was changed", {
    exitCode: exitCodes.failed,
    hint: "run it with sudo, look with --dry-run, or take --user for a service of your own",
  });
}
