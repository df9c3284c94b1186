import { gzipSync } from "node:zlib";
import type { ErrorCode } from "../../../src/shared/errors.js";
import { buildTar, buildTgz, longName, paxHeader, tarEnd, tarEntry, type TarEntry } from "../../support/build-tar.js";
import { buildZip, zip64Extra, type ZipEnd, type ZipEntry } from "../../support/build-zip.js";

export interface HostileArchive {
  readonly what: string;
  readonly filename: string;
  readonly bytes: Buffer;
  readonly code: ErrorCode;
}

const manifest = { name: "package/manifest.yaml", content: "name: victim\nversion: 1.0.0\nenv: { FROM: hostile }\n" };
/** Files of a package at the root of the archive. */
const body = { content: "evil" };

/** Names that are rejected in both formats, with their error code. */
const badNames: readonly [what: string, name: string, code: ErrorCode][] = [
  ["a name with ..", "../evil", "PATH_TRAVERSAL"],
  ["a name that leaves package/", "package/../evil", "PATH_TRAVERSAL"],
  ["a name with many ..", "package/a/../../../../../../tmp/evil", "PATH_TRAVERSAL"],
  ["a name that ends in ..", "package/..", "PATH_TRAVERSAL"],
  ["an absolute name", "/tmp/evil", "PATH_TRAVERSAL"],
  ["a name of many slashes", "////evil", "PATH_TRAVERSAL"],
  ["a drive letter", "C:/evil", "PATH_TRAVERSAL"],
  ["a drive-relative name", "C:evil", "PATH_TRAVERSAL"],
  ["a network share", "\\\\server\\evil", "PATH_TRAVERSAL"],
  ["backslashes with ..", "..\\..\\evil", "PATH_TRAVERSAL"],
  ["backslashes with .. below package", "package\\..\\..\\evil", "PATH_TRAVERSAL"],
  ["a backslash", "package/a\\b", "INVALID_ARCHIVE"],
  ["a newline", "package/a\nb", "INVALID_ARCHIVE"],
  ["an escape character", "package/\u001b[31m", "INVALID_ARCHIVE"],
  ["a delete character", "package/a\u007f", "INVALID_ARCHIVE"],
  ["a bidirectional override", "package/gpj\u202ejs", "INVALID_ARCHIVE"],
  ["a name of only a dot", "package/.", "INVALID_ARCHIVE"],
  ["an empty segment", "package//evil", "INVALID_ARCHIVE"],
  ["a trailing dot", "package/evil.", "INVALID_ARCHIVE"],
  ["a trailing space", "package/evil ", "INVALID_ARCHIVE"],
  ["a device name of Windows", "package/CON", "INVALID_ARCHIVE"],
  ["a device name with an extension", "package/nul.txt", "INVALID_ARCHIVE"],
  ["an alternate data stream", "package/a:b", "INVALID_ARCHIVE"],
  ["a duplicate name", "package/manifest.yaml", "INVALID_ARCHIVE"],
  ["a name that differs by case", "package/MANIFEST.yaml", "INVALID_ARCHIVE"],
  ["a folder that differs by case", "Package/other", "INVALID_ARCHIVE"],
  ["a file where a folder is", "package", "INVALID_ARCHIVE"],
  ["a file below a file", "package/manifest.yaml/evil", "INVALID_ARCHIVE"],
];

export const hostileArchives: readonly HostileArchive[] = [
  ...badNames.flatMap(([what, name, code]) => [
    { what: `tar: ${what}`, filename: "a.tgz", bytes: buildTgz(manifest, { name, ...body }), code },
    { what: `zip: ${what}`, filename: "a.zip", bytes: buildZip([manifest, { name, ...body }]), code },
  ]),
  ...hostileTars(),
  ...hostileZips(),
];

function tar(what: string, code: ErrorCode, ...parts: readonly (Buffer | TarEntry)[]): HostileArchive {
  return { what: `tar: ${what}`, filename: "a.tgz", bytes: buildTgz(manifest, ...parts), code };
}

function link(linkTarget: string, type = "2"): TarEntry {
  return { name: "package/link", type, linkTarget };
}

function raw(what: string, bytes: Buffer, filename = "a.tgz"): HostileArchive {
  return { what: `tar: ${what}`, filename, bytes, code: "INVALID_ARCHIVE" };
}

function bigEndian(first: number, last: number): Buffer {
  return Buffer.from([first, 0, 0, 0, last, 0, 0, 0, 0, 0, 0, 0]);
}

function hostileTars(): HostileArchive[] {
  const good = buildTgz(manifest);
  const flipped = Buffer.from(good);
  flipped[good.length - 6] = (flipped[good.length - 6] as number) ^ 0xff;
  return [
    tar("a link to an absolute path", "PATH_TRAVERSAL", link("/etc/passwd")),
    tar("a link to outside and a file through it", "PATH_TRAVERSAL", link("../../outside"), { name: "package/link/evil", ...body }),
    tar("a link out of package/", "PATH_TRAVERSAL", link("../evil")),
    tar("a chain of links to outside", "PATH_TRAVERSAL", { ...link("b"), name: "package/a" }, { ...link(".."), name: "package/b" }),
    tar("a link within the package", "UNSUPPORTED_ENTRY", link("manifest.yaml")),
    tar("a hard link to an absolute path", "PATH_TRAVERSAL", link("/etc/passwd", "1")),
    tar("a hard link with ..", "PATH_TRAVERSAL", link("../x", "1")),
    tar("a hard link within the package", "UNSUPPORTED_ENTRY", link("package/manifest.yaml", "1")),
    ...["3", "4", "6", "7", "S", "Z", "D", "V"].map((type) =>
      tar(`an entry of type ${type}`, "UNSUPPORTED_ENTRY", { name: "package/x", type }),
    ),
    tar("a sparse file in pax form", "UNSUPPORTED_ENTRY", paxHeader({ "GNU.sparse.major": "1" }), { name: "package/x", ...body }),
    tar("a pax name with NUL", "INVALID_ARCHIVE", paxHeader({ path: "package/ok\0/../x" }), { name: "package/x", ...body }),
    tar("a pax name with ..", "PATH_TRAVERSAL", paxHeader({ path: "../x" }), { name: "package/x", ...body }),
    tar("a pax link target with ..", "PATH_TRAVERSAL", paxHeader({ linkpath: "../../x" }), link("manifest.yaml")),
    tar("a pax header of 2 MB", "INVALID_ARCHIVE", paxHeader({ comment: "x".repeat(2 * 1024 * 1024), path: "package/y" }), body),
    tar("a malformed pax header", "INVALID_ARCHIVE", tarEntry({ name: "p", type: "x", content: "99 path=x\n" }), {
      name: "package/x",
      ...body,
    }),
    tar("an invalid pax size", "INVALID_ARCHIVE", paxHeader({ size: "-1" }), { name: "package/x", ...body }),
    tar("a global pax header with a path", "INVALID_ARCHIVE", paxHeader({ path: "package/x" }, "g"), { name: "package/y", ...body }),
    tar("two long names for one entry", "INVALID_ARCHIVE", paxHeader({ path: "package/a" }), longName("package/b"), {
      name: "package/x",
      ...body,
    }),
    tar("a long name without an entry", "INVALID_ARCHIVE", longName("package/b")),
    tar("a name of 8,000 bytes", "INVALID_ARCHIVE", longName(`package/${"a/".repeat(4000)}x`), { name: "package/x", ...body }),
    tar("a segment of 300 bytes", "INVALID_ARCHIVE", longName(`package/${"a".repeat(300)}`), { name: "package/x", ...body }),
    tar("a name 200 folders deep", "INVALID_ARCHIVE", longName(`package/${"a/".repeat(200)}x`), { name: "package/x", ...body }),
    tar("a name that is not UTF-8", "INVALID_ARCHIVE", { name: Buffer.from("package/\xff\xfe", "latin1"), ...body }),
    tar("no name", "INVALID_ARCHIVE", { name: "", ...body }),
    tar("names that differ by normalization", "INVALID_ARCHIVE", { name: "package/\u00e9", ...body }, { name: "package/e\u0301", ...body }),
    tar("names that differ by sharp s", "INVALID_ARCHIVE", { name: "package/stra\u00dfe", ...body }, { name: "package/strasse", ...body }),
    tar("a folder with content", "INVALID_ARCHIVE", { name: "package/x/", type: "5", ...body }),
    tar("a wrong checksum in a later header", "INVALID_ARCHIVE", { name: "package/x", ...body, brokenChecksum: true }),
    tar("a negative size", "INVALID_ARCHIVE", { name: "package/x", rawSize: Buffer.alloc(12, 0xff) }),
    tar("a size of exabytes", "INVALID_ARCHIVE", { name: "package/x", rawSize: bigEndian(0x80, 0x80) }),
    tar("a size that is not octal", "INVALID_ARCHIVE", { name: "package/x", rawSize: Buffer.from("00000000009z") }),
    tar("more content than the limit, by its header", "ARCHIVE_TOO_LARGE", { name: "package/x", rawSize: Buffer.from("77777777777\0") }),
    tar("bytes after the end mark", "INVALID_ARCHIVE", tarEnd, { name: "package/hidden", ...body }),
    tar("a lone zero block", "INVALID_ARCHIVE", Buffer.alloc(512), { name: "package/hidden", ...body }),
    raw("truncated gzip data", good.subarray(0, good.length - 20)),
    raw("truncated tar data", gzipSync(buildTar(manifest, { name: "package/x", content: "x".repeat(2000) }).subarray(0, 2000))),
    raw("a wrong gzip checksum", flipped),
    raw("trailing bytes", Buffer.concat([good, Buffer.from("trailing")])),
    raw("two gzip members", Buffer.concat([good, buildTgz({ name: "package/second", ...body })])),
    raw("no entries", gzipSync(tarEnd)),
    raw("only folders", buildTgz({ name: "package/", type: "5" })),
    raw("0 bytes", Buffer.alloc(0)),
    raw("1 byte", Buffer.from([0x1f])),
    raw("text", Buffer.from("this is not an archive")),
    raw("4 KiB of A", Buffer.alloc(4096, "A")),
    raw("an empty gzip file", gzipSync("")),
    raw("gzipped text", gzipSync("this is not a tar archive".repeat(100))),
    raw("a plain tar named .tgz", buildTar(manifest)),
    raw("a zip named .tar.gz", buildZip([manifest]), "a.tar.gz"),
    raw("a tgz named .zip", good, "a.zip"),
  ];
}

function zip(what: string, code: ErrorCode, entries: readonly ZipEntry[], end?: ZipEnd): HostileArchive {
  return { what: `zip: ${what}`, filename: "a.zip", bytes: buildZip([manifest, ...entries], end), code };
}

function hostileZips(): HostileArchive[] {
  const entry = { name: "package/x", content: "x".repeat(100) };
  const huge = 0x8000_0000_0000_0000n;
  const endSignature = Buffer.from("PK\u0005\u0006");
  return [
    zip("a symbolic link", "UNSUPPORTED_ENTRY", [{ name: "package/link", content: "../../x", mode: 0o120777 }]),
    zip("a device", "UNSUPPORTED_ENTRY", [{ name: "package/x", mode: 0o020644 }]),
    zip("a pipe", "UNSUPPORTED_ENTRY", [{ name: "package/x", mode: 0o010644 }]),
    zip("a wrong checksum", "INVALID_ARCHIVE", [{ ...entry, crc: 1 }]),
    zip("a wrong checksum of deflated data", "INVALID_ARCHIVE", [{ ...entry, method: 8, crc: 1 }]),
    zip("a wrong stored size", "INVALID_ARCHIVE", [{ ...entry, uncompressedSize: 99 }]),
    zip("a size that is too small", "INVALID_ARCHIVE", [{ ...entry, method: 8, uncompressedSize: 50 }]),
    zip("a size that is too big", "INVALID_ARCHIVE", [{ ...entry, method: 8, uncompressedSize: 200 }]),
    zip("a size beyond any compression ratio", "INVALID_ARCHIVE", [{ ...entry, method: 8, uncompressedSize: 4_000_000_000 }]),
    zip("a different local name", "INVALID_ARCHIVE", [{ ...entry, localName: "package/y" }]),
    zip("overlapping entries", "INVALID_ARCHIVE", [entry, { ...entry, name: "package/x", localOffset: 0 }]),
    zip("two names for one entry's data", "INVALID_ARCHIVE", [{ ...manifest, localOffset: 0 }]),
    zip("more entries than counted", "INVALID_ARCHIVE", [entry], { count: 1 }),
    zip("fewer entries than counted", "INVALID_ARCHIVE", [entry], { count: 3 }),
    zip("a count of 65,535", "ARCHIVE_TOO_LARGE", [entry], { count: 65_535 }),
    zip("different counts", "INVALID_ARCHIVE", [entry], { countHere: 1 }),
    zip("a directory beyond the end", "INVALID_ARCHIVE", [entry], { directoryOffset: 0x7fff_ffff }),
    zip("a directory that starts late", "INVALID_ARCHIVE", [entry], { directoryOffset: 80 }),
    zip("a wrong directory size", "INVALID_ARCHIVE", [entry], { directorySize: 10 }),
    zip("several disks", "INVALID_ARCHIVE", [entry], { disk: 1 }),
    zip("bytes between entries and directory", "INVALID_ARCHIVE", [entry, { ...entry, name: "package/z" }], {
      before: Buffer.from("PK\u0003\u0004"),
    }),
    zip("an end record inside the comment", "INVALID_ARCHIVE", [entry], { comment: Buffer.concat([endSignature, Buffer.alloc(30)]) }),
    zip("encryption", "INVALID_ARCHIVE", [{ ...entry, flags: 0x801 }]),
    zip("strong encryption", "INVALID_ARCHIVE", [{ ...entry, flags: 0x841 }]),
    zip("bzip2", "INVALID_ARCHIVE", [{ ...entry, method: 12 }]),
    zip("zstd", "INVALID_ARCHIVE", [{ ...entry, method: 93 }]),
    zip("zip64 sizes of exabytes", "INVALID_ARCHIVE", [
      { ...entry, method: 8, compressedSize: 0xffffffff, uncompressedSize: 0xffffffff, centralExtra: zip64Extra(huge, huge) },
    ]),
    zip("a zip64 field that is too short", "INVALID_ARCHIVE", [{ ...entry, uncompressedSize: 0xffffffff, centralExtra: zip64Extra() }]),
    zip("a name that is not UTF-8", "INVALID_ARCHIVE", [{ ...entry, name: Buffer.from("package/\xff", "latin1") }]),
    zip("a name with NUL", "INVALID_ARCHIVE", [{ ...entry, name: "package/a\0.js" }]),
    zip("no name", "INVALID_ARCHIVE", [{ ...entry, name: "" }]),
    zip("a folder with content", "INVALID_ARCHIVE", [{ ...entry, name: "package/x/" }]),
    zip("a folder by type only", "INVALID_ARCHIVE", [{ ...entry, mode: 0o040755 }]),
    { what: "zip: empty", filename: "a.zip", bytes: buildZip([]), code: "INVALID_ARCHIVE" },
    { what: "zip: truncated", filename: "a.zip", bytes: buildZip([manifest, entry]).subarray(0, 200), code: "INVALID_ARCHIVE" },
    {
      what: "zip: trailing bytes",
      filename: "a.zip",
      bytes: Buffer.concat([buildZip([manifest]), Buffer.from("x")]),
      code: "INVALID_ARCHIVE",
    },
    { what: "zip: 0 bytes", filename: "a.zip", bytes: Buffer.alloc(0), code: "INVALID_ARCHIVE" },
    { what: "an unknown file type", filename: "a.rar", bytes: buildTgz(manifest), code: "INVALID_FILE_TYPE" },
    { what: "no file type", filename: "tgz", bytes: buildTgz(manifest), code: "INVALID_FILE_TYPE" },
  ];
}
