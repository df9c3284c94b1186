const namesWindowsReserves = /^(?:con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3]|conin\$|conout\$)(?:\.|$)/i;

/** Whether Windows has a device of that name, so that no file or folder there can be called so. */
export function isReservedByWindows(name: string): boolean {
  return namesWindowsReserves.test(name);
}
