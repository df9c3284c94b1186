/** Returns the message in the body of an error response of the daemon. Undefined if the body is not an error of the daemon. */
export function daemonErrorIn(body: string): string | undefined {
  try {
    const { error } = JSON.parse(body) as { error?: { code?: unknown; message?: unknown } };
    return typeof error?.code === "string" && typeof error.message === "string" ? error.message : undefined;
  } catch {
    return undefined;
  }
}
