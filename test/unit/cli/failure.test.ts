import { describe, expect, test } from "vitest";
import { ApiError } from "../../../src/shared/api-error.js";
import { UnexpectedAnswerError } from "../../../src/shared/client.js";
import { errorTable, type ErrorCode } from "../../../src/shared/errors.js";
import { CommandError, usageError } from "../../../src/cli/command/command-error.js";
import { timeoutFailure } from "../../../src/cli/client/connection-failure.js";
import { reportFailure } from "../../../src/cli/command/failure.js";
import { Output } from "../../../src/cli/output/output.js";

function outputTo(written: string[], json: boolean): Output {
  const terminal = { stdinIsTty: false, stdoutIsTty: false, stderrIsTty: false, widthColumns: 80, hasColor: false };
  return new Output(
    { ...terminal, writeStdout: () => expect.unreachable("stdout stays empty"), writeStderr: (text) => void written.push(text) },
    { format: json ? "json" : "automatic" },
  );
}

const answer = (status: number) => ({ status, requestId: "id-1", text: "" });

describe("reportFailure", () => {
  test.each<[string, Error, number]>([
    ["invalid arguments", usageError("no"), 2],
    ["a missing or invalid key", new ApiError("AUTH_REQUIRED", "no"), 4],
    ["a missing permission", new ApiError("PERMISSION_DENIED", "no"), 5],
    ["a package of another namespace", new ApiError("NAMESPACE_DENIED", "no"), 5],
    ["an unknown worker", new ApiError("WORKER_NOT_FOUND", "no"), 6],
    ["self-revocation", new ApiError("KEY_SELF_REVOKE_FORBIDDEN", "no"), 7],
    ["an invalid archive", new ApiError("INVALID_ARCHIVE", "no"), 1],
    ["an archive that is too large", new ApiError("ARCHIVE_TOO_LARGE", "no"), 1],
    ["an internal error of the daemon", new ApiError("INTERNAL_ERROR", "no"), 8],
    ["a key store that cannot be written", new ApiError("KEY_STORE_UNAVAILABLE", "no"), 8],
    ["a timeout", timeoutFailure("http://a", 1000), 8],
    ["a 502 response of a proxy", new UnexpectedAnswerError("no", answer(502)), 8],
    ["a web page instead of an API response", new UnexpectedAnswerError("no", answer(200)), 1],
    ["Ctrl-C", new CommandError("INTERRUPTED", "no", { exitCode: 130 }), 130],
    ["any other error", new TypeError("no"), 1],
  ])("returns the documented exit code for the failure: %s", (_, error, exitCode) => {
    const written: string[] = [];
    expect(reportFailure(error, outputTo(written, true))).toBe(exitCode);
    expect(JSON.parse(written.join(""))).toMatchObject({ error: { message: "message" in error ? error.message : "", exitCode } });
  });

  test("returns a documented exit code for every error code of the API", () => {
    for (const code of Object.keys(errorTable) as ErrorCode[]) {
      const exitCode = reportFailure(new ApiError(code, "no"), outputTo([], true));
      expect([1, 4, 5, 6, 7, 8]).toContain(exitCode);
      // Retryable failures: internal errors of the daemon and rate limits.
      expect(exitCode === 8, code).toBe(errorTable[code][0] >= 500 || errorTable[code][0] === 429);
    }
  });
});

test("reportFailure escapes control characters in message, hint, code and request ID", () => {
  const error = new ApiError("NAMESPACE_DENIED", "not \x1b]52;c;aGk=\x07 yours\u202e", { details: [{ path: "a\x1b[2J" }] });
  error.requestId = "id-1";
  const written: string[] = [];
  reportFailure(error, outputTo(written, false));
  const text = written.join("");
  expect(text).toContain("error: not \\x1b]52;c;aGk=\\x07 yours\\u{202e}");
  expect(text).toContain("hint: ");
  expect(text).toContain("(NAMESPACE_DENIED, request id-1)");
  expect(text).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
});

test("reportFailure prints the missing changes of INDEX_DIVERGED only as JSON", () => {
  const details = { kind: "restored", missingCount: 1, missing: [{ revision: 5, changes: ["worker shop@1.0.0"] }] };
  const error = new ApiError("INDEX_DIVERGED", "Nothing was changed.", { details });
  const [text, json]: [string[], string[]] = [[], []];
  reportFailure(error, outputTo(text, false));
  reportFailure(error, outputTo(json, true));
  expect(text.join("")).toBe(
    "error: Nothing was changed.\nhint: to list the missing changes: runtimectl daemon resync\n(INDEX_DIVERGED)\n",
  );
  expect(JSON.parse(json.join(""))).toMatchObject({ error: { details: [JSON.stringify(details)] } });
});
