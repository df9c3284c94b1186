/** Per second, with as many digits as say something. */
export function toRate(perSecond: number): string {
  return perSecond === 0 ? "0" : perSecond.toFixed(perSecond < 10 ? 2 : 0);
}

export function toMilliseconds(ms: number | null): string {
  return ms === null ? "-" : `${ms.toFixed(ms < 10 ? 2 : 0)} ms`;
}

export function toMegabytes(bytes: number): string {
  return bytes === 0 ? "-" : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
