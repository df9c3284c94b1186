/** Reason why a plugin's page cannot be shown in a frame inside the panel. */
export type FrameRefusal = "absent" | "failed" | "unframeable";

/**
 * Requests a page before it is shown in a frame, because a frame does not report errors. Returns undefined if a frame can show the page.
 * Does not follow a redirect. Throws if the daemon is unreachable.
 */
export async function checkFrame(url: string, signal: AbortSignal, load: typeof fetch = fetch): Promise<FrameRefusal | undefined> {
  const response = await load(url, { headers: { accept: "text/html" }, redirect: "manual", signal });
  // The check needs only the headers of the response.
  await response.body?.cancel();
  if (response.type === "opaqueredirect") return undefined;
  if (response.status === 404) return "absent";
  if (!response.ok) return "failed";
  return forbidsFrames(response.headers) ? "unframeable" : undefined;
}

function forbidsFrames(headers: Headers): boolean {
  const policies = (headers.get("content-security-policy") ?? "").split(/[;,]/).map((directive) => directive.trim().toLowerCase());
  const ancestors = policies.filter((directive) => directive.startsWith("frame-ancestors"));
  // Browsers ignore `X-Frame-Options` if the content security policy contains `frame-ancestors`.
  if (ancestors.length > 0) return ancestors.some((directive) => !/\s(?:'self'|\*|https?:)/.test(directive));
  return headers.get("x-frame-options")?.trim().toLowerCase() === "deny";
}
