/** Rights over files, as bits of `linux/landlock.h`. */
const files = {
  execute: 1n << 0n,
  writeFile: 1n << 1n,
  readFile: 1n << 2n,
  readFolder: 1n << 3n,
  removeFolder: 1n << 4n,
  removeFile: 1n << 5n,
  makeCharacterDevice: 1n << 6n,
  makeFolder: 1n << 7n,
  makeFile: 1n << 8n,
  makeSocket: 1n << 9n,
  makeFifo: 1n << 10n,
  makeBlockDevice: 1n << 11n,
  makeSymbolicLink: 1n << 12n,
  /** To link or move a file into another folder. */
  moveBetweenFolders: 1n << 13n,
  truncate: 1n << 14n,
  controlDevice: 1n << 15n,
};
const bindTcp = 1n << 0n;
const connectTcp = 1n << 1n;
const abstractSockets = 1n << 0n;
const signals = 1n << 1n;

/** Versions of the kernel's Landlock interface that brought rights, oldest first; Linux 5.13 has version 1. */
const additions = [
  { abi: 2, right: "moving files between folders", linux: "5.19" },
  { abi: 3, right: "truncating files", linux: "6.2" },
  { abi: 4, right: "binding TCP ports", linux: "6.7" },
  { abi: 5, right: "controlling devices", linux: "6.10" },
  { abi: 6, right: "abstract sockets and signals", linux: "6.12" },
] as const;

/** What a folder or file is opened for. */
export type LandlockAccess = "read" | "run" | "write";

const byAccess: Readonly<Record<LandlockAccess, bigint>> = {
  read: files.readFile | files.readFolder,
  run: files.readFile | files.readFolder | files.execute,
  write:
    files.writeFile |
    files.truncate |
    files.removeFile |
    files.removeFolder |
    files.makeFile |
    files.makeFolder |
    files.makeSymbolicLink |
    files.makeSocket |
    files.makeFifo |
    files.moveBetweenFolders,
};

/** Rights that a rule for a file, not a folder, may name. */
const ofOneFile = files.execute | files.writeFile | files.readFile | files.truncate | files.controlDevice;

/** What a ruleset handles: everything that the kernel's version knows, which is then denied except where a rule allows it. */
export interface HandledRights {
  readonly files: bigint;
  readonly network: bigint;
  readonly scopes: bigint;
}

/** `deniesConnecting`: TCP connections, too. */
export function handledRights(abi: number, { deniesConnecting }: { deniesConnecting: boolean }): HandledRights {
  const oldest = files.makeSymbolicLink * 2n - 1n;
  return {
    files: oldest | (abi >= 2 ? files.moveBetweenFolders : 0n) | (abi >= 3 ? files.truncate : 0n) | (abi >= 5 ? files.controlDevice : 0n),
    network: abi >= 4 ? bindTcp | (deniesConnecting ? connectTcp : 0n) : 0n,
    scopes: abi >= 6 ? abstractSockets | signals : 0n,
  };
}

/** The rights of a rule, within those that are handled. */
export function ruleRights(access: readonly LandlockAccess[], handled: bigint, { isFolder }: { isFolder: boolean }): bigint {
  const rights = access.reduce((all, one) => all | byAccess[one], 0n);
  return rights & handled & (isFolder ? ~0n : ofOneFile);
}

/** Rights that the kernel's version cannot deny, in words, with the Linux that can. */
export function missingRights(abi: number): string[] {
  return additions.filter((addition) => abi < addition.abi).map(({ right, linux }) => `${right} (Linux ${linux})`);
}
