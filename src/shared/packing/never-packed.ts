import { installationFileName } from "../installation-file-name.js";

const exactNames: Readonly<Record<string, string>> = {
  ".git": "version control",
  ".hg": "version control",
  ".svn": "version control",
  ".npmrc": "may hold a token",
  ".runtime": "state of a daemon, with its keys",
  [installationFileName]: "the daemon's record of an installation",
  "keys.db": "keys of a daemon",
  "root.key": "the root key of a daemon",
  ".runtimectl.yaml": "settings of this folder",
  ".runtimeignore": "settings of this folder",
  ".DS_Store": "litter",
  "Thumbs.db": "litter",
  "desktop.ini": "litter",
  ".idea": "editor settings",
  ".vscode": "editor settings",
};

const patterns: readonly (readonly [pattern: RegExp, label: string])[] = [
  [/^\.env/, ".env*: may hold secrets"],
  [/^\.dev\.vars/, ".dev.vars*: may hold secrets"],
  [/\.pem$/i, "*.pem: may hold a private key"],
  // Without a dot: id_ed25519 is a key, id_map.js is code.
  [/^id_[^.]+(?:\.pub)?$/, "id_*: may be an SSH key"],
  [/\.sw[a-p]$/, "*.swp: litter"],
  [/~$/, "*~: litter"],
  [/^\._/, "._*: litter"],
  [/^\.#|^#.*#$/, "editor litter"],
];

/** Why a file or folder of that name is never packed, whatever the ignore files say; undefined when it may be. */
export function neverPackedReason(name: string, parentName: string | undefined): string | undefined {
  if (parentName === "node_modules" && name === ".bin") return "always out: links to commands";
  if (parentName === "node_modules" && name === ".cache") return "always out: caches of build tools";
  if (Object.hasOwn(exactNames, name)) return `always out: ${name}, ${exactNames[name]}`;
  const match = patterns.find(([pattern]) => pattern.test(name));
  return match && `always out: ${match[1]}`;
}

/** The same for a whole relative path: the first part that is never packed decides. */
export function neverPackedPathReason(relativePath: string): string | undefined {
  const parts = relativePath.split("/");
  for (const [index, part] of parts.entries()) {
    const reason = neverPackedReason(part, parts[index - 1]);
    if (reason !== undefined) return reason;
  }
  return undefined;
}
