import type { Settings } from "../../../shared/contract/settings.js";
import { formatSize } from "../../../shared/size.js";
import { DataTable, type Column } from "../../components/data-table.js";
import { StateDot } from "../../components/state-dot.js";
import { VariableTable } from "./variable-table.js";

type Directory = Settings["directories"][number];
type Layer = Settings["isolation"][number];

/** Share of free space below which a directory is marked, as in the check `disk-space`. */
const leastFreeShare = 0.1;
/** Free space below which a directory is marked, as in the check `disk-space`. */
const leastFreeBytes = 1024 ** 3;

const directoryColumns: readonly Column<Directory>[] = [
  { id: "kind", title: "Directory", cell: ({ kind }) => kind },
  { id: "path", title: "Path", cell: ({ path }) => <code>{path}</code> },
  { id: "free", title: "Free space", cell: (directory) => <FreeSpace directory={directory} /> },
  {
    id: "writable",
    title: "Writable",
    shownFrom: "wide",
    cell: ({ isWritable }) => <StateDot state={isWritable ? "ok" : "degraded"}>{isWritable ? "yes" : "no"}</StateDot>,
  },
];

const layerColumns: readonly Column<Layer>[] = [
  { id: "name", title: "Layer", cell: ({ name }) => name },
  {
    id: "state",
    title: "State",
    cell: ({ isActive }) => <StateDot state={isActive ? "ok" : "degraded"}>{isActive ? "active" : "inactive"}</StateDot>,
  },
  { id: "message", title: "Message", cell: ({ message }) => message },
];

/** Directories of the daemon with their free space. */
export function Directories({ directories }: Pick<Settings, "directories">) {
  return (
    <section aria-labelledby="settings-directories">
      <h2 id="settings-directories">Directories</h2>
      <DataTable caption="Directories" columns={directoryColumns} rows={directories} keyOf={({ kind, path }) => `${kind} ${path}`} />
    </section>
  );
}

/** Isolation layers and variables of the daemon. */
export function DaemonSettings({ settings }: { settings: Settings }) {
  return (
    <>
      <section aria-labelledby="settings-isolation">
        <h2 id="settings-isolation">Isolation of workers</h2>
        <DataTable caption="Isolation layers" columns={layerColumns} rows={settings.isolation} keyOf={({ name }) => name} />
      </section>
      <VariableTable variables={settings.variables} />
    </>
  );
}

function FreeSpace({ directory: { freeBytes, totalBytes } }: { directory: Directory }) {
  const share = totalBytes === 0 ? 0 : freeBytes / totalBytes;
  const text = `${formatSize(freeBytes)} of ${formatSize(totalBytes)} (${Math.floor(share * 100)} %)`;
  const isLow = share < leastFreeShare || freeBytes < leastFreeBytes;
  return isLow ? <StateDot state="degraded">{text}</StateDot> : text;
}
