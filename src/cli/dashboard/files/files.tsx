import { useState } from "react";
import { formatSize } from "../../../shared/size.js";
import { ago, toMinute } from "../../output/format.js";
import { Detail } from "../components/detail.js";
import type { Column } from "../components/list.js";
import { ListScreen } from "../components/list-screen.js";
import { SafeText } from "../components/safe-text.js";
import { filesOf, folderOf, type FileItem, type FileKind, type FolderLocation } from "./file-location.js";
import { useFileKeys, useFolderKeys, useOpenFile } from "./file-keys.js";
import { useIsStale, useQuery } from "../queries/hooks.js";

const kinds: readonly FileKind[] = ["workers", "plugins"];
const keyOf = ({ kind, entry }: FileItem) => `${kind} ${entry.path}`;
const nameOf = ({ entry }: FileItem) => `${entry.name}${entry.isDirectory ? "/" : ""}`;

const columns: readonly Column<FileItem>[] = [
  { heading: "NAME", text: nameOf, color: ({ entry }) => (entry.isDirectory ? "cyan" : undefined) },
  { heading: "SIZE", width: 10, text: ({ entry }) => (entry.isDirectory ? "-" : formatSize(entry.size)) },
  { heading: "CHANGED", width: 20, text: ({ entry }) => ago(entry.updatedAt, Date.now()) },
];
const mountColumns: readonly Column<FileItem>[] = [
  { heading: "NAME", text: nameOf },
  { heading: "KIND", width: 10, text: ({ kind }) => kind },
];

/** Shows the package directories on the server. The user can open folders and text files. */
export function FilesScreen() {
  const principal = useQuery("session", (client) => client.session.show()).value?.principal;
  const [location, setLocation] = useState<FolderLocation>();
  const [from, setFrom] = useState<string>();
  if (principal === undefined) return <SafeText>loading…</SafeText>;
  const readable = kinds.filter((kind) => principal.permissions.includes(`${kind}:read`));
  if (readable.length === 0)
    return (
      <SafeText wrap="wrap">{`This screen requires the permission workers:read or plugins:read, which the key ${principal.name} does not have.`}</SafeText>
    );
  const go = (to: FolderLocation | undefined, cameFrom?: string) => {
    setLocation(to);
    setFrom(cameFrom);
  };
  if (location === undefined || !readable.includes(location.kind))
    return (
      <Mounts key={readable.join(" ")} readable={readable} firstKey={from} onOpen={({ kind, entry }) => go({ kind, path: entry.path })} />
    );
  const back = () => {
    const folder = folderOf(location.path);
    go(folder === "" ? undefined : { kind: location.kind, path: folder }, `${location.kind} ${location.path}`);
  };
  return (
    <Folder
      key={`${location.kind} ${location.path}`}
      {...{ location }}
      firstKey={from}
      onBack={back}
      onEnter={(path) => go({ ...location, path })}
    />
  );
}

interface MountsProps {
  readonly readable: readonly FileKind[];
  readonly firstKey: string | undefined;
  readonly onOpen: (item: FileItem) => void;
}

function Mounts({ readable, firstKey, onOpen }: MountsProps) {
  const mounts = useQuery(`mounts of ${readable.join(" ")}`, (client) =>
    Promise.all(readable.map(async (kind) => (await filesOf(client, kind).list({})).data.entries.map((entry) => ({ kind, entry })))),
  );
  const isStale = useIsStale();
  return (
    <ListScreen
      {...{ keyOf, isStale, firstKey, onOpen }}
      columns={mountColumns}
      items={mounts.value?.flat()}
      error={mounts.error}
      nouns={["package directory", "package directories"]}
      empty="no package directory is configured"
      detail={(item) => <MountDetail item={item} isStale={isStale} />}
    />
  );
}

function MountDetail({ item, isStale }: { readonly item: FileItem; readonly isStale: boolean }) {
  return <Detail title={item.entry.name} facts={[{ name: "kind", value: item.kind }]} isStale={isStale} />;
}

interface FolderProps {
  readonly location: FolderLocation;
  readonly firstKey: string | undefined;
  readonly onBack: () => void;
  readonly onEnter: (path: string) => void;
}

function Folder({ location, firstKey, onBack, onEnter }: FolderProps) {
  const { kind, path } = location;
  const folder = useQuery(`files of ${kind} ${path}`, async (client) => {
    const { data } = await filesOf(client, kind).list({ query: { path } });
    return { ...data, items: data.entries.map((entry): FileItem => ({ kind, entry })) };
  });
  const isStale = useIsStale();
  const openFile = useOpenFile();
  useFolderKeys(location, folder.value?.entries ?? []);
  return (
    <ListScreen
      {...{ columns, keyOf, isStale, firstKey, onBack }}
      items={folder.value?.items}
      error={folder.error}
      nouns={["entry", "entries"]}
      place={`${path}${folder.value?.hasMore ? ", more entries not shown" : ""}`}
      empty="this folder is empty; esc goes back"
      onOpen={(item) => (item.entry.isDirectory ? onEnter(item.entry.path) : openFile(item))}
      detail={(item) => <FileDetail key={keyOf(item)} {...{ item, isStale }} />}
    />
  );
}

function FileDetail({ item, isStale }: { readonly item: FileItem; readonly isStale: boolean }) {
  useFileKeys(item);
  const { entry } = item;
  const facts = [
    { name: "path", value: entry.path },
    { name: "kind", value: entry.isDirectory ? "folder" : "file" },
    ...(entry.isDirectory ? [] : [{ name: "size", value: `${formatSize(entry.size)} (${entry.size} bytes)` }]),
    { name: "changed", value: `${ago(entry.updatedAt, Date.now())}, ${toMinute(entry.updatedAt)}` },
  ];
  return <Detail title={nameOf(item)} facts={facts} isStale={isStale} />;
}
