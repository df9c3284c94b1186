import { expect, test } from "vitest";
import { parseError } from "../../../../src/server/health/error-position.js";
import { LoggedErrors } from "../../../../src/server/health/logged-errors.js";

test.each([
  [
    "Error: no basket\n    at fetch (index.js:3:11)\n    at node:internal/x:1:2",
    { message: "Error: no basket", file: "index.js", line: 3, column: 11 },
  ],
  ["Error: x\n    at node_modules/a/b.js:1:2\n    at src/app.ts:9:1", { message: "Error: x", file: "src/app.ts", line: 9, column: 1 }],
  ["It failed: boom (index.js:1:7)", { message: "It failed: boom", file: "index.js", line: 1, column: 7 }],
  [
    'syntax error in plugin.js:3:14: Expected ";"',
    { message: 'syntax error in plugin.js:3:14: Expected ";"', file: "plugin.js", line: 3, column: 14 },
  ],
  ["GET /app/ 500 3 ms", { message: "GET /app/ 500 3 ms" }],
  ["\n  \n", { message: "" }],
  ["connect ECONNREFUSED 127.0.0.1:80:1", { message: "connect ECONNREFUSED 127.0.0.1:80:1" }],
])("parseError returns the message and the position in an error text (case %#)", (text, expected) => {
  expect(parseError(text, 7)).toEqual({ at: 7, ...expected });
});

test("LoggedErrors keeps an error with a file and line when later errors have none", () => {
  const errors = new LoggedErrors();
  errors.note({ time: 1000, source: "app", text: "Error: first\n    at index.js:1:1" });
  errors.note({ time: 1500, source: "app", text: "a line" });
  errors.note({ time: 1600, source: "request", text: "GET / 500 1 ms" });
  expect(errors.newest).toMatchObject({ message: "Error: first", at: 1, line: 1 });
  errors.note({ time: 12_000, source: "request", text: "GET /later 500 1 ms" });
  expect(errors.newest).toEqual({ message: "GET /later 500 1 ms", at: 12 });
});
