const namesWindowsReserves = /^(?:con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3]|conin\$|conout\$)(?:\.|$)/i;

/** Whether Windows reserves the file name for a device, such as `con`. */
export function isReservedByWindows(name: string): boolean {
  return namesWindowsReserves.test(name);
}
