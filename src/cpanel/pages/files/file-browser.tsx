import { DropOverlay } from "../../components/drop-overlay.js";
import { ResourceList } from "../../components/resource-list.js";
import { EmptyState } from "../../components/empty-state.js";
import { PanelLink } from "../../router/panel-link.js";
import { useRoute } from "../../router/use-route.js";
import { folderAt, pageAt, type PackageRef } from "./package-ref.js";
import { FileView } from "./file-view.js";
import { FolderPath } from "./folder-path.js";
import { FolderView } from "./folder-view.js";
import { useRoots } from "./use-roots.js";
import "./file-browser.css";

/** Shows one folder or one file of a package, depending on the URL. */
export function FileBrowser({ of }: { of: PackageRef }) {
  const roots = useRoots(of);
  return (
    <ResourceList
      noun="file"
      permission={`${of.kind}:read`}
      resource={roots}
      total={roots.data?.length ?? 0}
      rows={roots.data ?? []}
      onClearFilters={() => undefined}
      empty={
        <EmptyState title={`${of.name} has no files to show`}>
          {of.isBuiltIn ? "This package is part of the daemon. Its files are not shown." : "Its folder does not exist."}
        </EmptyState>
      }
    >
      {(found) => <Place of={of} roots={found} />}
    </ResourceList>
  );
}

function Place({ of, roots }: { of: PackageRef; roots: readonly string[] }) {
  const { search } = useRoute();
  const path = search.get("path") ?? (roots.length === 1 ? (roots[0] ?? "") : "");
  const file = search.get("file");
  if (path === "") return <Roots of={of} roots={roots} />;
  const folder = folderAt(of, roots, path);
  if (!folder)
    return (
      <EmptyState title={`${path} is no folder of ${of.name}`}>
        All that there is: <PanelLink to={of.page}>Files of {of.name}</PanelLink>.
      </EmptyState>
    );
  return (
    <>
      <FolderPath of={of} roots={roots} path={path} file={file} />
      {file === null ? (
        <FolderView key={path} folder={folder} />
      ) : (
        <>
          <FileView key={`${path}/${file}`} folder={folder} name={file} />
          <DropOverlay onDrop={() => undefined}>Open a folder to upload files into it</DropOverlay>
        </>
      )}
    </>
  );
}

/** List of the folders of a package that is stored in several package directories. */
function Roots({ of, roots }: { of: PackageRef; roots: readonly string[] }) {
  return (
    <ul className="file-roots" aria-label={`Folders of ${of.name}`}>
      {roots.map((root) => (
        <li key={root}>
          <PanelLink to={pageAt(of, root)}>{root}</PanelLink>
        </li>
      ))}
    </ul>
  );
}
