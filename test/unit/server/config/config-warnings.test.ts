import { expect, test } from "vitest";
import { configWarnings } from "../../../../src/server/config/config-warnings.js";

const warningOf = (name: string) => configWarnings({ [name]: "x" }, { rootKey: undefined })[0];

test.each([
  ["RUNTIME_ROOTKEY", "RUNTIME_ROOT_KEY"],
  ["RUNTIME_PLUGIN_DIR", "RUNTIME_PLUGIN_DIRS"],
  ["RUNTIME_STATE_DIRECTORY", "RUNTIME_STATE_DIR"],
  ["RUNTIME_WORKER_UID", "RUNTIME_WORKER_UIDS"],
])("the warning for %s suggests the most similar variable name", (name, meant) => {
  expect(warningOf(name)).toBe(`${name} is set, but runtimed has no such variable; did you mean ${meant}?`);
});

test.each(["RUNTIME_FOOBAR", "RUNTIME_WORKER_TIMEOUTT", "RUNTIME_X", "RUNTIME_"])("the warning for %s suggests no name", (name) => {
  expect(warningOf(name)).toBe(`${name} is set, but runtimed has no such variable`);
});
