import type { LastError } from "../../shared/contract/worker-health.js";

/** Number of characters at the start of an error text in which `parseError` searches for a source position. */
const searchedLength = 4096;
const longestMessage = 500;
/** Matches source positions such as `src/app.ts:12:3`. Positions inside Node.js begin with `node:` and do not match. */
const positionPattern = /(?:^|[\s("'])(?:file:\/\/)?([^\s()"':]+\.[a-z]{1,5}):(\d+):(\d+)/gim;

/**
 * Returns the message and the source position of an error text, which can contain a stack. Prefers a position outside `node_modules`.
 * `atSeconds`: Unix time of the error.
 */
export function parseError(text: string, atSeconds: number): LastError {
  const first = (text.split("\n").find((line) => line.trim() !== "") ?? "").trim();
  const positions = [...text.slice(0, searchedLength).matchAll(positionPattern)];
  const [, file, line, column] = positions.find(([, path]) => !path?.includes("node_modules/")) ?? positions[0] ?? [];
  const message = first.replace(` (${file}:${line}:${column})`, "").slice(0, longestMessage);
  if (file === undefined || Number(line) < 1 || Number(column) < 1) return { message, at: atSeconds };
  return { message, at: atSeconds, file, line: Number(line), column: Number(column) };
}
