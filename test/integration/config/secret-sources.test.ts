import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { readConfig } from "../../../src/server/config/config.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

const read = (environment: Record<string, string>) => readConfig(environment, { pid: 4_711, cwd: "/srv", stdoutIsTerminal: false });
const sync = { RUNTIME_AUTH_DB_MODE: "sync", RUNTIME_AUTH_DB_SYNC_URL: "http://keys.example.org:8080" };

test("the sync token is read from the systemd credential, else a file, else a variable", async () => {
  const credentials = await temporaryDirectory();
  const file = path.join(await temporaryDirectory(), "token");
  await writeFile(file, "from-the-file\n");
  const all = {
    ...sync,
    CREDENTIALS_DIRECTORY: credentials,
    RUNTIME_AUTH_DB_SYNC_TOKEN_FILE: file,
    RUNTIME_AUTH_DB_SYNC_TOKEN: "from-the-variable",
  };

  expect(read({ ...all, RUNTIME_AUTH_DB_SYNC_TOKEN_FILE: "" }).primary?.token).toBe("from-the-variable");
  expect(read(all).primary?.token).toBe("from-the-file");
  await writeFile(path.join(credentials, "auth-db-sync-token"), "from-the-credential\n");
  expect(read(all).primary?.token).toBe("from-the-credential");
});

test.each(["two words", "a\r\nb", "ä", "t".repeat(8193)])("the sync token %j is rejected, and the error omits the token", (token) => {
  const environment = { ...sync, RUNTIME_AUTH_DB_SYNC_TOKEN: token };

  expect(() => read(environment)).toThrow(/^RUNTIME_AUTH_DB_SYNC_TOKEN is not accepted: it takes a token of at most 8192 [^\n]*$/);
  expect(() => read(environment)).not.toThrow(token);
});

test("the registry credential is read again after a file change, and hidden in errors", async () => {
  const file = path.join(await temporaryDirectory(), "credential");
  await writeFile(file, "ann:first\n");
  const oci = { RUNTIME_PACKAGE_STORE: "oci:https://registry.example.org/runtimed" };
  const { packageSource } = read({ ...oci, RUNTIME_PACKAGE_STORE_CREDENTIAL_FILE: file });
  expect(packageSource?.credential()).toBe("ann:first");
  await writeFile(file, "ann:second\n");
  expect(packageSource?.credential()).toBe("ann:second");
  const bad = { ...oci, RUNTIME_PACKAGE_STORE_CREDENTIAL: "ann:two words" };
  expect(() => read(bad)).toThrow(/^RUNTIME_PACKAGE_STORE_CREDENTIAL is not accepted: it takes user:password or a token [^\n]*$/);
  expect(() => read(bad)).not.toThrow("two words");
  expect(() => read({ RUNTIME_PACKAGE_STORE: "oci:https://ann:secret@registry.example.org/a" })).toThrow("oci:https://[hidden]@registry");
});
