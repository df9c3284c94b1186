const groupCount = 8;
const groupBits = 16;
const wholeGroup = 0xffff;
/** Bits of the prefix `::ffff:0:0/96`. `AddressRanges` compares IPv4 addresses in this IPv4-mapped form. */
const mappedPrefixBits = 96;
const characters = { dot: 46, zero: 48, nine: 57, colon: 58, lowerA: 97, upperA: 65 };

// Calls `charCodeAt` through `Reflect.apply`. This module reads both functions before worker code runs, because worker code can replace
// them.
const { apply } = Reflect;
// oxlint-disable-next-line typescript/unbound-method -- called by `apply`
const { charCodeAt } = String.prototype;

interface AddressRange {
  readonly groups: readonly number[];
  readonly prefixBits: number;
}

/**
 * A set of IP networks. Worker code cannot change the result of `has`. A `net.BlockList` calls prototype methods, which worker code can
 * replace.
 */
export class AddressRanges {
  readonly #ranges: readonly AddressRange[];

  /** `networks` contains CIDR blocks, separated by spaces, such as `10.0.0.0/8 fc00::/7`. */
  constructor(networks: string) {
    this.#ranges = networks.split(" ").map((network) => {
      const [address, prefix] = network.split("/") as [string, string];
      const isMapped = !address.includes(":");
      return { groups: groupsOf(address, isMapped ? 4 : 6), prefixBits: Number(prefix) + (isMapped ? mappedPrefixBits : 0) };
    });
  }

  /** Returns whether a network contains an address. `address` must be valid and have no zone. `family` is the result of `net.isIP`. */
  has(address: string, family: number): boolean {
    const groups = groupsOf(address, family);
    for (let index = 0; index < this.#ranges.length; index += 1) if (isWithin(groups, this.#ranges[index] as AddressRange)) return true;
    return false;
  }
}

function isWithin(groups: readonly number[], range: AddressRange): boolean {
  for (let index = 0; index < groupCount; index += 1) {
    const bits = range.prefixBits - index * groupBits;
    if (bits <= 0) return true;
    const mask = bits >= groupBits ? wholeGroup : wholeGroup & (wholeGroup << (groupBits - bits));
    if ((((groups[index] as number) ^ (range.groups[index] as number)) & mask) !== 0) return false;
  }
  return true;
}

/** Returns the eight 16-bit groups of an address in IPv6 form. */
function groupsOf(address: string, family: number): number[] {
  const groups = family === 4 ? [0, 0, 0, 0, 0, wholeGroup, 0, 0] : [0, 0, 0, 0, 0, 0, 0, 0];
  let at = family === 4 ? groupCount - 2 : 0;
  let gap = -1;
  let hexadecimal = 0;
  let decimal = 0;
  let dotted = 0;
  let hasDots = false;
  let previous = characters.colon;
  for (let index = 0; index < address.length; index += 1) {
    const character = apply(charCodeAt, address, [index]);
    if (character === characters.colon) {
      if (previous !== characters.colon) {
        groups[at] = hexadecimal;
        at += 1;
      } else if (index > 0) gap = at;
      hexadecimal = decimal = 0;
    } else if (character === characters.dot) {
      hasDots = true;
      dotted = dotted * 256 + decimal;
      hexadecimal = decimal = 0;
    } else {
      const digit = digitOf(character);
      hexadecimal = hexadecimal * 16 + digit;
      decimal = decimal * 10 + digit;
    }
    previous = character;
  }
  if (hasDots) {
    const whole = dotted * 256 + decimal;
    groups[at] = whole >>> groupBits;
    groups[at + 1] = whole & wholeGroup;
    at += 2;
  } else if (previous !== characters.colon) {
    groups[at] = hexadecimal;
    at += 1;
  }
  if (gap >= 0) moveToEnd(groups, gap, at);
  return groups;
}

function digitOf(character: number): number {
  if (character <= characters.nine) return character - characters.zero;
  return 10 + character - (character >= characters.lowerA ? characters.lowerA : characters.upperA);
}

/** Moves the groups after `::` to the end of the address and writes zeros before them. */
function moveToEnd(groups: number[], from: number, end: number): void {
  for (let count = 1; count <= end - from; count += 1) {
    const target = groupCount - count;
    const source = end - count;
    if (target === source) return;
    groups[target] = groups[source] as number;
    groups[source] = 0;
  }
}
