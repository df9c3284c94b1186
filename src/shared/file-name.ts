const namesWindowsReserves = /^(?:con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3]|conin\$|conout\$)(?:\.|$)/i;

/** Whether a name is reserved for a device on Windows. */
export function isReservedByWindows(name: string): boolean {
  return namesWindowsReserves.test(name);
}
