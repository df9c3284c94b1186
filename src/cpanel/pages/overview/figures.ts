/** Formats a rate per second, with two decimals below 10 and as a whole number otherwise. */
export function rate(perSecond: number): string {
  if (perSecond === 0) return "0";
  return perSecond < 10 ? perSecond.toFixed(2) : Math.round(perSecond).toLocaleString("en-GB");
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
