/** A parsed path pattern with literal segments and `:name` segments. A trailing `/*` matches any further segments, or none. */
export interface RoutePattern {
  readonly segments: readonly string[];
  readonly hasRest: boolean;
}

export function parseRoutePattern(pattern: string): RoutePattern {
  const parts = pattern.split("/").slice(1);
  const hasRest = parts.at(-1) === "*";
  return { segments: hasRest ? parts.slice(0, -1) : parts, hasRest };
}

/** Compares two patterns for sorting. The pattern with more literal segments is first. */
export function byLiteralness(a: RoutePattern, b: RoutePattern): number {
  return weight(b) - weight(a);
}

/**
 * Returns the decoded values of the `:name` segments. The key `*` contains the path below a trailing `/*`. Returns undefined if the path
 * does not match.
 */
export function matchRoutePattern(
  { segments: pattern, hasRest }: RoutePattern,
  segments: readonly string[],
): Record<string, string> | undefined {
  if (hasRest ? segments.length < pattern.length : segments.length !== pattern.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] as string;
    if (!part.startsWith(":")) {
      if (part !== segment) return undefined;
      continue;
    }
    if (segment === "") return undefined;
    params[part.slice(1)] = decoded(segment);
  }
  if (hasRest) params["*"] = decoded(segments.slice(pattern.length).join("/"));
  return params;
}

function weight({ segments, hasRest }: RoutePattern): number {
  const literal = segments.filter((segment) => !segment.startsWith(":")).length;
  return (hasRest ? 0 : 1_000_000) + literal * 1000 + segments.length;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
