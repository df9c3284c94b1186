import { endOn } from "../output/dates.js";

/** When a key ends, in words with a date. */
export function endOf(expiresAt: number | undefined): string {
  return expiresAt === undefined ? "never ends" : `ends ${endOn(expiresAt, Date.now())}`;
}
