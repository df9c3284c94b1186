import type { LastError } from "../../shared/contract/worker-health.js";

/** Number of characters of an error that are searched for a position. */
const searchedLength = 4096;
const longestMessage = 500;
/** Matches positions such as `src/app.ts:12:3`. Positions inside Node.js begin with `node:` and do not match. */
const positionPattern = /(?:^|[\s("'])(?:file:\/\/)?([^\s()"':]+\.[a-z]{1,5}):(\d+):(\d+)/gim;

/** Returns message and position of an error text with a stack. `atSeconds` is Unix time. Prefers positions outside `node_modules`. */
export function parseError(text: string, atSeconds: number): LastError {
  const first = (text.split("\n").find((line) => line.trim() !== "") ?? "").trim();
  const positions = [...text.slice(0, searchedLength).matchAll(positionPattern)];
  const [, file, line, column] = positions.find(([, path]) => !path?.includes("node_modules/")) ?? positions[0] ?? [];
  const message = first.replace(` (${file}:${line}:${column})`, "").slice(0, longestMessage);
  if (file === undefined || Number(line) < 1 || Number(column) < 1) return { message, at: atSeconds };
  return { message, at: atSeconds, file, line: Number(line), column: Number(column) };
}
