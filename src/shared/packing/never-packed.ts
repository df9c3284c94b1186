import { installationFileName } from "../installation-file-name.js";

const exactNames: Readonly<Record<string, string>> = {
  ".git": "version control",
  ".hg": "version control",
  ".svn": "version control",
  ".npmrc": "can contain a token",
  ".runtime": "state of a daemon, including keys",
  [installationFileName]: "the daemon's record of an installation",
  "keys.db": "keys of a daemon",
  "root.key": "the root key of a daemon",
  "secrets.key": "the key for secrets of a daemon",
  ".runtimectl.yaml": "settings of this folder",
  ".runtimeignore": "settings of this folder",
  ".DS_Store": "temporary system file",
  "Thumbs.db": "temporary system file",
  "desktop.ini": "temporary system file",
  ".idea": "editor settings",
  ".vscode": "editor settings",
};

const patterns: readonly (readonly [pattern: RegExp, label: string])[] = [
  [/^\.env/, ".env*: can contain secrets"],
  [/^\.dev\.vars/, ".dev.vars*: can contain secrets"],
  [/\.pem$/i, "*.pem: can contain a private key"],
  // SSH keys are in files without an extension: `id_ed25519` is a key, but `id_map.js` is code.
  [/^id_[^.]+(?:\.pub)?$/, "id_*: can be an SSH key"],
  [/\.sw[a-p]$/, "*.swp: temporary editor file"],
  [/~$/, "*~: temporary editor file"],
  [/^\._/, "._*: temporary system file"],
  [/^\.#|^#.*#$/, "temporary editor file"],
];

/**
 * Returns the reason why a file or folder with this name is never packed, even if an ignore file includes it. Undefined if it can be
 * packed.
 */
export function neverPackedReason(name: string, parentName: string | undefined): string | undefined {
  if (parentName === "node_modules" && name === ".bin") return "always excluded: links to commands";
  if (parentName === "node_modules" && name === ".cache") return "always excluded: caches of build tools";
  if (Object.hasOwn(exactNames, name)) return `always excluded: ${name}, ${exactNames[name]}`;
  const match = patterns.find(([pattern]) => pattern.test(name));
  return match && `always excluded: ${match[1]}`;
}

/**
 * Returns the reason why a relative path is never packed: the reason for its first segment that is never packed. Undefined if the path can
 * be packed.
 */
export function neverPackedPathReason(relativePath: string): string | undefined {
  const parts = relativePath.split("/");
  for (const [index, part] of parts.entries()) {
    const reason = neverPackedReason(part, parts[index - 1]);
    if (reason !== undefined) return reason;
  }
  return undefined;
}
