/** Why a page cannot be shown inside of the panel. */
export type FrameRefusal = "absent" | "failed" | "unframeable";

/**
 * Asks for a page before it is framed, since a frame cannot say what became of it. Undefined = it may be framed. A redirect is left to the
 * frame, which goes nowhere but within the origin. Throws when nobody answers.
 */
export async function checkFrame(url: string, signal: AbortSignal, load: typeof fetch = fetch): Promise<FrameRefusal | undefined> {
  const response = await load(url, { headers: { accept: "text/html" }, redirect: "manual", signal });
  // Only the head is wanted.
  await response.body?.cancel();
  if (response.type === "opaqueredirect") return undefined;
  if (response.status === 404) return "absent";
  if (!response.ok) return "failed";
  return forbidsFrames(response.headers) ? "unframeable" : undefined;
}

function forbidsFrames(headers: Headers): boolean {
  const policies = (headers.get("content-security-policy") ?? "").split(/[;,]/).map((directive) => directive.trim().toLowerCase());
  const ancestors = policies.filter((directive) => directive.startsWith("frame-ancestors"));
  // Where both are there, browsers look at the policy alone.
  if (ancestors.length > 0) return ancestors.some((directive) => !/\s(?:'self'|\*|https?:)/.test(directive));
  return headers.get("x-frame-options")?.trim().toLowerCase() === "deny";
}
