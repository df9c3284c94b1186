import path from "node:path";
import { isPackageName, isPackageVersion } from "../../../shared/package-name.js";
import type { Mount } from "./mounts.js";

/** The folder of a package in which files may be changed: a version of a worker, or a plugin. */
export interface Unit {
  /** The directory that it lies in. */
  readonly directory: string;
  /** The package's name, as its place says it. */
  readonly name: string;
  /** From the directory on. */
  readonly segments: readonly string[];
  /** Absolute. */
  readonly folder: string;
}

/** The first segments below a mount that make a unit; undefined when they do not. */
export type Layout = (below: readonly string[]) => { readonly name: string; readonly depth: number } | undefined;

/** `name/<version>/…`, `@scope/name/<version>/…`. */
export function workerLayout(below: readonly string[]): ReturnType<Layout> {
  const plain = pluginLayout(below);
  const version = plain && below[plain.depth];
  return plain && version !== undefined && isPackageVersion(version) ? { name: plain.name, depth: plain.depth + 1 } : undefined;
}

/** `name/…`, `@scope/name/…`. */
export function pluginLayout(below: readonly string[]): ReturnType<Layout> {
  const depth = below[0]?.startsWith("@") ? 2 : 1;
  const name = below.slice(0, depth).join("/");
  return below.length >= depth && isPackageName(name) ? { name, depth } : undefined;
}

export function unitIn(mount: Mount, below: readonly string[], layout: Layout): Unit | undefined {
  const found = layout(below);
  if (!found) return undefined;
  const segments = below.slice(0, found.depth);
  return { directory: mount.path, name: found.name, segments, folder: path.join(mount.path, ...segments) };
}
