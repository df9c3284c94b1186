import { expect, test } from "vitest";
import { runBatch } from "../../../src/cli/command/run-batch.js";
import { CommandError } from "../../../src/cli/command/command-error.js";
import type { Context } from "../../../src/cli/command/command.js";
import { Output, type Terminal } from "../../../src/cli/output/output.js";
import { ApiError } from "../../../src/shared/api-error.js";

/** Runs a batch whose items fail with the given errors; returns the labels tried, the document shown and the error thrown. */
async function actOn(failures: Readonly<Record<string, Error | undefined>>) {
  let stdout = "";
  const terminal: Terminal = {
    stdinIsTty: false,
    stdoutIsTty: false,
    stderrIsTty: false,
    widthColumns: 80,
    hasColor: false,
    writeStdout: (text) => void (stdout += text.toString()),
    writeStderr: () => {},
  };
  const output = new Output(terminal, { format: "json" });
  const tried: string[] = [];
  const acting = runBatch({ output } as Context, {
    items: Object.keys(failures).map((label) => ({ label, fields: { label } })),
    noun: "words",
    done: "said",
    act: ({ label }) => {
      tried.push(label);
      const failure = failures[label];
      return failure ? Promise.reject(failure) : Promise.resolve();
    },
  });
  const thrown = await acting.then(
    () => undefined,
    (error: unknown) => error,
  );
  return { tried, thrown, shown: stdout === "" ? undefined : (JSON.parse(stdout) as unknown) };
}

const refused = new ApiError("KEY_NOT_FOUND", "no such key");
const unreachable = new CommandError("UNREACHABLE", "gone", { exitCode: 8 });

test("a batch continues after the daemon rejects an item, and returns exit code 9", async () => {
  const { tried, thrown, shown } = await actOn({ a: undefined, b: refused, c: undefined });

  expect(tried).toEqual(["a", "b", "c"]);
  expect(thrown).toMatchObject({ code: "PARTLY_DONE", exitCode: 9, details: ["b: no such key (KEY_NOT_FOUND)"] });
  expect(shown).toEqual({
    words: [
      { label: "a", said: true },
      { label: "b", said: false, error: { code: "KEY_NOT_FOUND", message: "no such key" } },
      { label: "c", said: true },
    ],
  });
});

test("a batch stops when the connection is lost, and lists other items as not tried", async () => {
  const { tried, thrown, shown } = await actOn({ a: undefined, b: unreachable, c: undefined });

  expect(tried).toEqual(["a", "b"]);
  expect(thrown).toMatchObject({ code: "PARTLY_DONE", exitCode: 9 });
  expect(shown).toMatchObject({ words: [{ said: true }, { error: { code: "UNREACHABLE" } }, { error: { code: "NOT_TRIED" } }] });
});

test("a batch rejects with the first error and prints no result when every item fails", async () => {
  expect(await actOn({ a: unreachable, b: undefined })).toEqual({ tried: ["a"], thrown: unreachable, shown: undefined });
  expect(await actOn({ a: refused, b: refused })).toEqual({ tried: ["a", "b"], thrown: refused, shown: undefined });
});
