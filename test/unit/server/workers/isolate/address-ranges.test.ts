import { randomBytes } from "node:crypto";
import { BlockList, isIP } from "node:net";
import { describe, expect, test } from "vitest";
import { AddressRanges } from "../../../../../src/server/workers/isolate/address-ranges.js";

const networks = "10.0.0.0/8 172.16.0.0/12 127.0.0.0/8 ::1/128 ::/128 fc00::/7 fe80::/10 64:ff9b::/96 2001:db8:1::/46 192.0.2.128/25";
const ranges = new AddressRanges(networks);
const blockList = new BlockList();
for (const network of networks.split(" ")) {
  const [address, prefix] = network.split("/") as [string, string];
  blockList.addSubnet(address, Number(prefix), isIP(address) === 4 ? "ipv4" : "ipv6");
}

/** Returns a random address, often one near a network of the list. */
function anyAddress(): string {
  const bytes = randomBytes(17);
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2) % ((bytes[16] as number) > 128 ? 65_536 : 3));
  const first = [0xfc00, 0xfe80, 0xfebf, 0xfec0, 0x64, 0x2001, 0][(bytes[16] as number) % 7] as number;
  const text = [first, ...groups.slice(1)].map((group) => group.toString(16)).join(":");
  return new URL(`http://[${text}]`).hostname.slice(1, -1);
}

describe("address ranges", () => {
  test.each([
    ["10.255.0.1", true],
    ["11.0.0.1", false],
    ["172.31.255.255", true],
    ["172.32.0.0", false],
    ["192.0.2.127", false],
    ["192.0.2.128", true],
    ["::ffff:10.0.0.1", true],
    ["::FFFF:7f00:1", true],
    ["0:0:0:0:0:ffff:127.0.0.1", true],
    ["::ffff:8.8.8.8", false],
    ["::", true],
    ["::1", true],
    ["::2", false],
    ["1::", false],
    ["FDFF::1", true],
    ["febf:ffff::", true],
    ["fec0::", false],
    ["64:ff9b::1.2.3.4", true],
    ["2001:db8:3:ffff::", true],
    ["2001:db8:4::", false],
  ])("are compared with the address %s (contained: %s)", (address, expected) => {
    expect(ranges.has(address, isIP(address))).toBe(expected);
  });

  test("contain the same random addresses as net.BlockList", () => {
    for (let count = 0; count < 20_000; count += 1) {
      const address = count % 2 === 0 ? anyAddress() : [...randomBytes(4)].join(".");
      const family = isIP(address);
      expect(ranges.has(address, family), address).toBe(blockList.check(address, family === 4 ? "ipv4" : "ipv6"));
    }
  });
});
