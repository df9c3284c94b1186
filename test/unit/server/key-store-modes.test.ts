import { describe, expect, test } from "vitest";
import { storeKeyStoreMode, type KeyStoreMode } from "../../../src/server/access/key-store-mode.js";
import { lastMode, nextMode } from "../../../src/server/backup/key-store-modes.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { writeTree } from "../../support/write-tree.js";

const local = { "keys.db": "" };
const replica = { "replica/current/keys.db": "" };

const both = { ...local, ...replica };

interface Case {
  readonly files: Record<string, string>;
  /** Mode that the last start stored. */
  readonly stored?: KeyStoreMode;
  readonly configured?: KeyStoreMode;
  readonly last: KeyStoreMode;
  readonly next: KeyStoreMode;
}

const cases: readonly Case[] = [
  { files: {}, last: "local", next: "local" },
  { files: local, last: "local", next: "local" },
  { files: replica, last: "sync", next: "sync" },
  { files: both, last: "sync", next: "sync" },
  { files: both, configured: "local", last: "local", next: "local" },
  { files: both, stored: "sync", last: "sync", next: "sync" },
  { files: both, stored: "local", last: "local", next: "local" },
  { files: both, stored: "local", configured: "sync", last: "local", next: "sync" },
  { files: both, stored: "sync", configured: "local", last: "sync", next: "local" },
  { files: {}, configured: "sync", last: "sync", next: "sync" },
];

describe("the mode of a key store", () => {
  test.each(cases)("is $last, then $next (stored $stored, configured $configured)", async ({ files, stored, configured, last, next }) => {
    const stateDirectory = await temporaryDirectory();
    await writeTree(stateDirectory, files);
    if (stored) await storeKeyStoreMode(stateDirectory, stored);
    const environment = { RUNTIME_AUTH_DB_MODE: configured };

    expect([lastMode(stateDirectory, environment), nextMode(stateDirectory, environment)]).toEqual([last, next]);
  });
});
