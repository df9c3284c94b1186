import type { FileEntry } from "../../../shared/contract/files.js";
import { formatSize } from "../../../shared/size.js";
import { RelativeTime } from "../../components/relative-time.js";
import type { Column } from "../../components/data-table.js";
import { RowActions, type RowAction } from "../../components/row-actions.js";
import { PanelLink } from "../../router/panel-link.js";
import { pageAt, type Folder } from "./package-ref.js";

/** Action on one file or folder in the file list. */
export type EntryAction = "rename" | "move" | "delete";

export interface EntryColumnsOptions {
  readonly folder: Folder;
  readonly may: { readonly change: boolean; readonly remove: boolean };
  readonly downloadUrl: (path: string) => string;
  readonly onAsk: (action: EntryAction, entry: FileEntry) => void;
}

export function entryColumns(options: EntryColumnsOptions): readonly Column<FileEntry>[] {
  const { folder } = options;
  return [
    {
      id: "name",
      title: "Name",
      sortBy: ({ name, isDirectory }) => `${isDirectory ? 0 : 1}${name}`,
      cell: ({ name, path, isDirectory }) => (
        <PanelLink to={isDirectory ? pageAt(folder.of, path) : pageAt(folder.of, folder.path, name)} className="entry-name">
          {name}
          {isDirectory && "/"}
        </PanelLink>
      ),
    },
    {
      id: "size",
      title: "Size",
      isNumeric: true,
      sortBy: ({ size }) => size,
      cell: ({ size, isDirectory }) => (isDirectory ? <span className="quiet">–</span> : formatSize(size)),
    },
    {
      id: "changed",
      title: "Changed",
      shownFrom: "wide",
      sortBy: ({ updatedAt }) => updatedAt,
      cell: ({ updatedAt }) => <RelativeTime at={updatedAt} />,
    },
    {
      id: "actions",
      title: "Actions",
      isActions: true,
      cell: (entry) => <RowActions name={entry.name} actions={actionsOf(entry, options)} />,
    },
  ];
}

function actionsOf(entry: FileEntry, { may, downloadUrl, onAsk }: EntryColumnsOptions): RowAction[] {
  const actions: RowAction[] = [{ title: "Download", icon: "download", download: downloadUrl(entry.path) }];
  if (may.change) {
    actions.push({ title: "Rename", icon: "edit", run: () => onAsk("rename", entry) });
    actions.push({ title: "Move", icon: "files", run: () => onAsk("move", entry) });
  }
  if (may.remove) actions.push({ title: "Delete", icon: "delete", isDanger: true, run: () => onAsk("delete", entry) });
  return actions;
}
