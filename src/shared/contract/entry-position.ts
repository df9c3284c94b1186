import * as z from "zod";

/** Maximum length of a position in characters, for about 200 daemons. */
const longestPosition = 8192;

/**
 * Matches a position: an id, or `DAEMON:ID` for each daemon, separated by commas. DAEMON is the name or id of a daemon, or the first
 * 8 characters of its id.
 */
export const positionPattern = /^(?:\d{1,16}|[\w.-]{1,255}:\d{1,16}(?:,[\w.-]{1,255}:\d{1,16})*)$/;

/** The query parameter `before` of lists whose ids grow with every entry. */
export const beforeQuery = {
  before: z.coerce
    .string<string | number>()
    .max(longestPosition)
    .regex(positionPattern, "must be an id, or the field before of a result")
    .optional()
    .describe(
      "Only older entries: the field `before` of a result, or an id of the daemon that responds. Forms: `ID`, or `DAEMON:ID` for each daemon, separated by commas; a daemon that is not named begins with its newest entries",
    ),
};

/** The field `before` of a list. */
export const beforeResult = z
  .string()
  .optional()
  .describe(
    "Position before the first entry: set the query parameter `before` to it, to read older entries. Absent if there are none, and without other daemons: the id of the first entry is then the position",
  );

/** The field `isNotice` of an entry. */
export const noticeFlag = z
  .boolean()
  .optional()
  .describe("True for a notice about a daemon, which only a stream contains; its id is 0 and names no entry");

interface PositionedEntry {
  readonly id: number;
  readonly instance?: string | undefined;
  readonly isNotice?: boolean | undefined;
}

/** Returns the position before the given entries, for the query parameter `before`. Returns undefined without entries. */
export function positionBefore(entries: Iterable<PositionedEntry>): string | undefined {
  const first = new Map<string | undefined, number>();
  for (const { id, instance, isNotice } of entries) if (!isNotice) first.set(instance, Math.min(id, first.get(instance) ?? id));
  const plain = first.get(undefined);
  if (plain !== undefined) return String(plain);
  return first.size === 0 ? undefined : [...first].map(([instance, id]) => `${instance ?? ""}:${id}`).join(",");
}
