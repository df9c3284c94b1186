const namePatterns = [
  /\.(?:key|p12|pfx|jks|keystore|kdbx|ppk)$/i,
  /^\.(?:netrc|pgpass|htpasswd|git-credentials|pypirc|dockercfg)$/,
  /^(?:credentials?|secrets?|service[-_]account)(?:[-_.][^/]*)?\.(?:json|ya?ml|toml|ini|txt)$/i,
  /^(?:credentials|root\.key)$/,
];
const folders = new Set([".ssh", ".aws", ".gnupg", ".kube", ".docker"]);

/** Whether a path is typical of a file with secrets. Does not cover the names that packing always excludes (see never-packed.ts). */
export function looksSecret(relativePath: string): boolean {
  const parts = relativePath.split("/");
  if (parts.includes("node_modules")) return false;
  return namePatterns.some((pattern) => pattern.test(parts.at(-1) ?? "")) || parts.some((part) => folders.has(part));
}
