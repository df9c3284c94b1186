/**
 * Matches an npm scope with its `@`, such as `@team`. Other code checks the namespace `*`, which contains all packages with and without a
 * scope.
 */
const namespacePattern = /^@[a-z0-9][a-z0-9._-]{0,213}$/;

export function isNamespace(text: string): boolean {
  return text === "*" || namespacePattern.test(text);
}

/** Whether a key with these namespaces is allowed to manage the package. A package without a scope requires the namespace `*`. */
export function namespacesCover(namespaces: readonly string[], packageName: string): boolean {
  if (namespaces.includes("*")) return true;
  const slash = packageName.indexOf("/");
  return packageName.startsWith("@") && slash > 0 && namespaces.includes(packageName.slice(0, slash));
}

/** Whether the namespaces `outer` contain every namespace of `inner`. */
export function namespacesWithin(inner: readonly string[], outer: readonly string[]): boolean {
  return outer.includes("*") || inner.every((namespace) => outer.includes(namespace));
}

/** Returns the `@scope` of a scoped worker name. Undefined for an unscoped name. */
export function namespaceOf(worker: string): string | undefined {
  const slash = worker.indexOf("/");
  return worker.startsWith("@") && slash > 0 ? worker.slice(0, slash) : undefined;
}
