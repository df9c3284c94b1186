import { nounOf, type ChangeSubject, type ChangeType } from "../../shared/contract/changes.js";
import { fromPathSegments, isPackageName, isPackageVersion } from "../../shared/package-name.js";

const mostPaths = 20;
const longestPath = 300;

/** The key that a path names, as it is before the call. */
export interface NamedKey {
  readonly name: string;
  readonly namespaces: readonly string[];
}

/** What a call is about: of the result when there is one, else of the path or the input. What breaks the grammar there is left out. */
export function changeSubjectOf(
  type: ChangeType,
  params: Readonly<Record<string, string>>,
  { input, result, key }: { readonly input?: unknown; readonly result?: unknown; readonly key?: NamedKey | undefined },
): ChangeSubject {
  const noun = nounOf(type);
  if (type === "worker.files-changed" || type === "plugin.files-changed") return fileSubject(input);
  if (noun === "session") return sessionSubject(result);
  if (noun === "key") return keySubject(params, result, key);
  const { worker, plugin } = dataOf(result) as { worker?: ChangeSubject; plugin?: ChangeSubject };
  const made = worker ?? plugin;
  if (made?.name !== undefined && made.version !== undefined) return { name: made.name, version: made.version };
  const { scope, name = "", version = "" } = params;
  const fullName = scope === undefined ? name : fromPathSegments({ scope, name });
  return { ...(isPackageName(fullName) && { name: fullName }), ...(isPackageVersion(version) && { version }) };
}

/** Paths, and the package that the first one lies in: what follows the mount, `[@scope/]name`. */
function fileSubject(input: unknown): ChangeSubject {
  const { path, paths = [], destPath } = (input ?? {}) as { path?: string; paths?: readonly string[]; destPath?: string };
  const all = [...(path === undefined ? paths : [path]), ...(destPath === undefined ? [] : [destPath])];
  const segments = (all[0] ?? "").split("/").slice(1);
  const nameSegments = segments[0]?.startsWith("@") ? 2 : 1;
  const name = segments.slice(0, nameSegments).join("/");
  return {
    ...(isPackageName(name) && { name }),
    ...(all.length > 0 && { paths: all.slice(0, mostPaths).map((one) => one.slice(0, longestPath)) }),
  };
}

function sessionSubject(result: unknown): ChangeSubject {
  const { principal } = (result ?? {}) as { principal?: NamedKey };
  return principal ? { namespaces: [...principal.namespaces] } : {};
}

/** The id of the key that a path names; undefined where it is none. */
export function keyIdIn(params: Readonly<Record<string, string>>): number | undefined {
  return /^[1-9]\d{0,14}$/.test(params["id"] ?? "") ? Number(params["id"]) : undefined;
}

function keySubject(params: Readonly<Record<string, string>>, result: unknown, key: NamedKey | undefined): ChangeSubject {
  const made = dataOf(result) as Partial<NamedKey> & { id?: number };
  const { id: madeId, name = key?.name, namespaces = key?.namespaces } = made;
  const givenId = keyIdIn(params);
  const id = givenId ?? madeId;
  return {
    ...(name !== undefined && { name }),
    ...(id !== undefined && { id }),
    ...(namespaces !== undefined && { namespaces: [...namespaces] }),
    ...(givenId !== undefined && madeId !== undefined && { replacedBy: madeId }),
  };
}

function dataOf(result: unknown): object {
  return (result as { data?: object } | undefined)?.data ?? {};
}
