import { PanelLink } from "../../router/panel-link.js";
import { isWithin, pageAt, type PackageRef } from "./package-ref.js";

interface FolderPathProps {
  readonly of: PackageRef;
  readonly roots: readonly string[];
  readonly path: string;
  readonly file: string | null;
}

/** Breadcrumb links from the package to the displayed folder or file. */
export function FolderPath({ of, roots, path, file }: FolderPathProps) {
  const steps = stepsTo(of, roots, path, file);
  return (
    <nav aria-label="Folders" className="folder-path">
      <ol>
        {steps.map(({ label, page }, index) => (
          <li key={page}>
            {index > 0 && <span aria-hidden="true">/</span>}
            {index === steps.length - 1 ? <span aria-current="page">{label}</span> : <PanelLink to={page}>{label}</PanelLink>}
          </li>
        ))}
      </ol>
    </nav>
  );
}

function stepsTo(of: PackageRef, roots: readonly string[], path: string, file: string | null): { label: string; page: string }[] {
  const root = roots.find((candidate) => isWithin(candidate, path)) ?? path;
  const below = path
    .slice(root.length + 1)
    .split("/")
    .filter(Boolean);
  const folders = below.map((label, index) => ({ label, page: pageAt(of, [root, ...below.slice(0, index + 1)].join("/")) }));
  return [
    { label: of.name, page: of.page },
    ...(roots.length > 1 ? [{ label: root, page: pageAt(of, root) }] : []),
    ...folders,
    ...(file === null ? [] : [{ label: file, page: pageAt(of, path, file) }]),
  ];
}
