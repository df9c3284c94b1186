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

/** One line of at most 1 KB without the slot's path, with the place in the app where it was thrown. */
export function summariseError(error: unknown, slot: string): string {
  let [text, place] = ["The module threw a value that cannot be described.", ""];
  try {
    text = error instanceof Error ? `${error.name}: ${error.message}` : `Thrown: ${String(error)}`;
    place = error instanceof Error && typeof error.stack === "string" ? placeIn(error.stack, slot) : "";
  } catch {
    // A hostile value: the sentence above stands.
  }
  const line = text
    .replaceAll(`file://${slot}/app/`, "")
    .replaceAll(`${slot}/app/`, "")
    .replaceAll(`file://${slot}/`, "")
    .replaceAll(`${slot}/`, "");
  return `${(line.split("\n").find((part) => part.trim() !== "") ?? "").slice(0, 900)}${place.slice(0, 100)}`;
}

/** ` (index.js:1:7)`, the topmost call in a file of the app; nothing for a syntax error, whose stack has none. */
function placeIn(stack: string, slot: string): string {
  const files = `${slot}/app/`;
  const call = stack.split("\n").find((line) => /^ +at .*:\d+:\d+\)?$/.test(line) && line.includes(files));
  return call === undefined ? "" : ` (${call.slice(call.indexOf(files) + files.length).replace(/\)$/, "")})`;
}
