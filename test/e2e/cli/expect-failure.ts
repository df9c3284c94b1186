import { expect } from "vitest";
import type { ShellSession } from "./shell-session.js";

/** Runs a command with `--json`. Expects an error document on stderr, an empty stdout and the exit code. Returns the error's message. */
export async function expectFailure(
  shell: ShellSession,
  words: string,
  { env = {}, ...expected }: { status: number; code: string; env?: Readonly<Record<string, string>> },
): Promise<string> {
  const run = await shell.run(`${words} --json`, { env });
  expect(run, `${words}: ${run.stderr}`).toMatchObject({ status: expected.status, stdout: "" });
  const document = JSON.parse(run.stderr.trim().split("\n").at(-1) ?? "") as { error: { code: string; message: string } };
  expect(document.error.code).toBe(expected.code);
  expect(document.error.message).not.toBe("");
  return document.error.message;
}
