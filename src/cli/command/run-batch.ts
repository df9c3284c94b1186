import { ApiError } from "../../shared/api-error.js";
import { CommandError } from "./command-error.js";
import type { Context } from "./command.js";
import { exitCodes } from "./exit-codes.js";
import { sanitizeForTerminal } from "../output/sanitize-for-terminal.js";

export interface Target {
  /** Name of the item in messages, such as `key 7 (ci)`. */
  readonly label: string;
  /** Fields that identify the item in the JSON document, such as `{ id: 7 }`. */
  readonly fields: object;
  /** Text of the note that is printed if the action succeeds. Default: the past participle and the label, such as `revoked key 7`. */
  readonly doneText?: string | undefined;
}

interface Action<Item extends Target> {
  readonly items: readonly Item[];
  /** Name of the list of items in the JSON document, such as `keys`. */
  readonly noun: string;
  /** Past participle of the action's verb, such as `revoked`. */
  readonly done: string;
  readonly act: (item: Item) => Promise<unknown>;
}

interface Outcome<Item extends Target> {
  readonly item: Item;
  /** The error of the failed action. Undefined if the action succeeded. */
  readonly failure: Error | undefined;
}

/**
 * Runs an action on several items in sequence and prints each result. Stops at an error that is not an API error. Throws the first error if
 * the action fails for all items, and PARTLY_DONE if it fails for only some items.
 */
export async function runBatch<Item extends Target>(context: Context, { items, noun, done, act }: Action<Item>): Promise<void> {
  const outcomes: Outcome<Item>[] = [];
  for (const item of items) {
    const ending = outcomes.find(({ failure }) => failure !== undefined && !(failure instanceof ApiError));
    const failure = ending ? notTried() : await failureOf(() => act(item));
    if (failure === undefined) context.output.note(sanitizeForTerminal(item.doneText ?? `${done} ${item.label}`));
    else if (items.length > 1)
      context.output.note(`not ${done} ${sanitizeForTerminal(item.label)}: ${sanitizeForTerminal(failure.message)}`);
    outcomes.push({ item, failure });
  }
  const failures = outcomes.flatMap(({ failure }) => failure ?? []);
  if (failures[0] !== undefined && failures.length === items.length) throw failures[0];
  showOutcomes(context, { outcomes, noun, done });
  if (failures.length === 0) return;
  throw new CommandError("PARTLY_DONE", `${done} ${items.length - failures.length} of ${items.length} ${noun}; the other ${noun} failed:`, {
    exitCode: exitCodes.partlyDone,
    details: outcomes.flatMap(({ item, failure }) => (failure ? [`${item.label}: ${failure.message} (${codeOf(failure)})`] : [])),
    cause: failures[0],
  });
}

async function failureOf(act: () => Promise<unknown>): Promise<Error | undefined> {
  try {
    await act();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function notTried(): Error {
  return new CommandError("NOT_TRIED", "not attempted, because an earlier item failed", { exitCode: exitCodes.failed });
}

function showOutcomes<Item extends Target>(
  { output }: Context,
  { outcomes, noun, done }: { outcomes: readonly Outcome<Item>[]; noun: string; done: string },
): void {
  const documents = outcomes.map(({ item, failure }) => ({
    ...item.fields,
    [done]: failure === undefined,
    ...(failure && { error: { code: codeOf(failure), message: failure.message } }),
  }));
  const rows = outcomes.map(({ item, failure }) => [item.label, failure ? codeOf(failure) : done]);
  // Prints no table rows for a single item, because the note already contains the result.
  output.table({ [noun]: documents }, [noun.toUpperCase(), "OUTCOME"], rows.length === 1 ? [] : rows);
}

function codeOf(failure: Error): string {
  return failure instanceof ApiError || failure instanceof CommandError ? failure.code : "FAILED";
}
