import type { FileEntry } from "../../../shared/contract/files.js";
import { fileLine, filesOf, folderOf, type FileItem, type FolderLocation } from "../files/file-location.js";
import type { Action } from "./action.js";

/** A file or folder to rename or move. When renaming, `to` is the new name. When moving, `to` is the new path. */
export interface Relocation extends FileItem {
  readonly to: string;
}

export interface NewFolder extends FolderLocation {
  readonly name: string;
}

const install = { workers: "workers:install", plugins: "plugins:install" } as const;
const remove = { workers: "workers:remove", plugins: "plugins:remove" } as const;

/** Returns the actions that change files of workers or plugins. */
export function fileActions(kind: FolderLocation["kind"]) {
  return {
    rename: renameFile(install[kind]),
    move: moveFile(install[kind]),
    makeFolder: makeFolder(install[kind]),
    delete: deleteFile(remove[kind]),
  };
}

function renameFile(permission: "workers:install" | "plugins:install"): Action<Relocation> {
  const pathAfter = ({ entry, to }: Relocation) => `${folderOf(entry.path)}/${to}`;
  return {
    id: "files.rename",
    permission,
    line: (target) => fileLine(target.kind, "mv", target.entry.path, pathAfter(target)),
    run: async (client, { kind, entry, to }) => {
      await filesOf(client, kind).rename({ body: { path: entry.path, newName: to } });
      return `${entry.name} renamed to ${to}`;
    },
    undo: async (client, target) => {
      await filesOf(client, target.kind).rename({ body: { path: pathAfter(target), newName: target.entry.name } });
      return `${target.to} renamed back to ${target.entry.name}`;
    },
  };
}

function moveFile(permission: "workers:install" | "plugins:install"): Action<Relocation> {
  return {
    id: "files.move",
    permission,
    line: ({ kind, entry, to }) => fileLine(kind, "mv", entry.path, to),
    run: async (client, { kind, entry, to }) => {
      await filesOf(client, kind).move({ body: { path: entry.path, destPath: to } });
      return `${entry.path} moved to ${to}`;
    },
  };
}

function makeFolder(permission: "workers:install" | "plugins:install"): Action<NewFolder> {
  return {
    id: "files.makeFolder",
    permission,
    line: ({ kind, path, name }) => fileLine(kind, "mkdir", `${path}/${name}`),
    run: async (client, { kind, path, name }) => {
      await filesOf(client, kind).mkdir({ body: { path: `${path}/${name}` } });
      return `${path}/${name} created`;
    },
  };
}

function deleteFile(permission: "workers:remove" | "plugins:remove"): Action<FileItem> {
  return {
    id: "files.delete",
    permission,
    line: ({ kind, entry }) => fileLine(kind, "rm", entry.path),
    confirmation: ({ entry }) => ({ consequence: `Delete ${whatIs(entry)} ${entry.path} permanently`, name: entry.name }),
    run: async (client, { kind, entry }) => {
      await filesOf(client, kind).remove({ body: { path: entry.path } });
      return `${entry.path} deleted`;
    },
  };
}

function whatIs({ isDirectory }: FileEntry): string {
  return isDirectory ? "the folder and its content" : "the file";
}
