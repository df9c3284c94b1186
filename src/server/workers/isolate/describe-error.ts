import { inspect } from "node:util";

/** Calls within Node, which say nothing about the app. */
const nodeFrames = /\n +at (?:[^\n]* \(|async )?node:[^\s)]*\)?( \{)?/g;

/** The text of anything that can be thrown; itself it never throws. */
export function describeError(error: unknown): string {
  try {
    return error instanceof Error && typeof error.stack === "string"
      ? inspect(error).replaceAll(nodeFrames, "$1")
      : `Thrown: ${inspect(error)}`;
  } catch {
    return "Thrown: a value that cannot be described.";
  }
}

/** One line of at most 1 KB without the slot's path. */
export function summariseError(error: unknown, slot: string): string {
  let text = "The module threw a value that cannot be described.";
  try {
    text = error instanceof Error ? `${error.name}: ${error.message}` : `Thrown: ${String(error)}`;
  } catch {
    // A hostile value: the sentence above stands.
  }
  const line = text
    .replaceAll(`file://${slot}/app/`, "")
    .replaceAll(`${slot}/app/`, "")
    .replaceAll(`file://${slot}/`, "")
    .replaceAll(`${slot}/`, "");
  return (line.split("\n").find((part) => part.trim() !== "") ?? "").slice(0, 1000);
}
