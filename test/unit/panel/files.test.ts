import { describe, expect, test } from "vitest";
import { folderAt, isWithin, pageAt, type PackageRef } from "../../../src/cpanel/pages/files/package-ref.js";
import { readText, toBytesText } from "../../../src/cpanel/pages/files/file-text.js";
import { readFile } from "../../../src/cpanel/pages/files/read-file.js";
import { createClient } from "../../../src/shared/client.js";
import { workerFiles } from "../../../src/shared/contract/files.js";
import { WireAnswer } from "../../support/fake-daemon.js";
import { FakeTransport } from "../../support/fake-transport.js";

const encode = (text: string) => new TextEncoder().encode(text);

describe("readText", () => {
  test.each([
    ["plain line ends", "one\ntwo\n", { text: "one\ntwo\n", lineEnd: "\n", hasByteOrderMark: false, isFaithful: true }],
    ["Windows line ends", "one\r\ntwo", { text: "one\ntwo", lineEnd: "\r\n", hasByteOrderMark: false, isFaithful: true }],
    ["mixed line ends", "one\r\ntwo\n", { text: "one\ntwo\n", lineEnd: "\r\n", hasByteOrderMark: false, isFaithful: false }],
    ["a single carriage return", "one\rtwo", { text: "one\ntwo", lineEnd: "\n", hasByteOrderMark: false, isFaithful: false }],
    ["a byte order mark", "\uFEFFone", { text: "one", lineEnd: "\n", hasByteOrderMark: true, isFaithful: true }],
    ["nothing", "", { text: "", lineEnd: "\n", hasByteOrderMark: false, isFaithful: true }],
  ] as const)("decodes text with %s", (_what, raw, expected) => {
    expect(readText(encode(raw))).toEqual(expected);
  });

  test.each([
    ["a zero byte", new Uint8Array([65, 0, 66])],
    ["invalid UTF-8", new Uint8Array([0xc3, 0x28])],
  ])("returns undefined for bytes with %s", (_what, bytes) => {
    expect(readText(bytes)).toBeUndefined();
  });

  test.each(["a\r\nb\r\n", "\uFEFFa\nb", "a"])("returns text that toBytesText converts to the original file content %j", (raw) => {
    const read = readText(encode(raw));
    expect(read && toBytesText(read)).toBe(raw);
  });
});

const shop: PackageRef = { kind: "workers", name: "shop", isBuiltIn: false, page: "apps/shop/files" };

describe("folderAt", () => {
  const roots = ["workers/shop", ".shipped/shop"];

  test.each([
    ["workers/shop", false],
    ["workers/shop/1.0.0", true],
    ["workers/shop/1.0.0/assets", true],
    ["workers/shop/notes", false],
    [".shipped/shop/1.0.0", false],
  ])("returns whether the user can change files in the folder %s", (path, isChangeable) => {
    expect(folderAt(shop, roots, path)).toEqual({ of: shop, path, isChangeable });
  });

  test("returns that the user can change files below a plugin's folder", () => {
    expect(folderAt({ ...shop, kind: "plugins" }, ["plugins/guard"], "plugins/guard/rules")?.isChangeable).toBe(true);
  });

  test.each(["workers/shopping", "workers", "workers/other/1.0.0"])(
    "returns undefined for the folder %s, which is outside of the package",
    (path) => {
      expect(folderAt(shop, roots, path)).toBeUndefined();
    },
  );
});

test("isWithin returns false for a path that only starts with the folder's name", () => {
  expect([isWithin("a/b", "a/b"), isWithin("a/b", "a/b/c"), isWithin("a/b", "a/bc")]).toEqual([true, true, false]);
});

test("pageAt percent-encodes the folder and the file in the URL", () => {
  expect(pageAt(shop, "workers/shop/1.0.0", "a&b.txt")).toBe("apps/shop/files?path=workers%2Fshop%2F1.0.0&file=a%26b.txt");
});

const read = (answer: unknown) => {
  const { send } = new FakeTransport({ "/api/workers/files/download": answer });
  return readFile(createClient(send, "/api", { workerFiles }).workerFiles, "workers/shop/index.js", new AbortController().signal);
};

describe("readFile", () => {
  test("returns the content of a text file and only the size of a binary file", async () => {
    expect(await read(Buffer.from("one\n"))).toMatchObject({ kind: "text", text: { text: "one\n" } });
    expect(await read(Buffer.from([0, 1, 2]))).toEqual({ kind: "binary", sizeBytes: 3 });
  });

  test("does not return the content of a file above 512 KB", async () => {
    expect(await read(Buffer.alloc(512 * 1024, "a"))).toMatchObject({ kind: "text" });
    expect(await read(Buffer.alloc(512 * 1024 + 1, "a"))).toEqual({ kind: "large", mostBytes: 512 * 1024 });
  });

  test("rejects with the daemon's error code when the file does not exist", async () => {
    await expect(read(WireAnswer.refusal(404, "PATH_NOT_FOUND", "gone"))).rejects.toMatchObject({ code: "PATH_NOT_FOUND" });
  });
});
