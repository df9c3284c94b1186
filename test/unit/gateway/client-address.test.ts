import { isIP } from "node:net";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ClientAddresses, trustedProxyProblem } from "../../../src/gateway/client-address.js";
import { parseIpAddress } from "../../../src/gateway/ip-address.js";

function clientOf(trusted: string[], chain: string | undefined): string | undefined {
  const request = new Request("http://host.test/", chain === undefined ? {} : { headers: { "x-forwarded-for": chain } });
  return new ClientAddresses(trusted).of(request).address?.text;
}

function networkOf(text: string): string | undefined {
  return parseIpAddress(text)?.network;
}

/** An independent implementation: returns the address without its brackets or port. */
function bareOf(text: string): string {
  const trimmed = text.trim();
  const inBrackets = /^\[(.*)\](:[0-9]{1,5})?$/.exec(trimmed);
  if (inBrackets && !inBrackets[1]?.includes("]")) return inBrackets[1] ?? "";
  const [host = "", port, ...more] = trimmed.split(":");
  return more.length === 0 && port !== undefined && /^[0-9]{1,5}$/.test(port) && isIP(host) === 4 ? host : trimmed;
}

const headerText = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)), maxLength: 40 });

describe("the client address", () => {
  const cases: readonly (readonly [what: string, trusted: string[], chain: string | undefined, client: string | undefined])[] = [
    ["is the peer address without trusted proxies", [], "1.1.1.1, 2.2.2.2", "2.2.2.2"],
    ["is the peer address when the peer is not trusted", ["10.0.0.0/8"], "10.0.0.1, 1.1.1.1, 2.2.2.2", "2.2.2.2"],
    ["is the address named by a trusted peer", ["10.0.0.0/8"], "1.1.1.1, 10.0.0.1", "1.1.1.1"],
    ["is the last untrusted address, not the first", ["10.0.0.0/8"], "6.6.6.6, 1.1.1.1, 10.0.0.2, 10.0.0.1", "1.1.1.1"],
    ["is not a trusted address sent by the client", ["10.0.0.0/8"], "10.9.9.9, 1.1.1.1, 10.0.0.1", "1.1.1.1"],
    ["is the first entry when all addresses are trusted", ["private"], "10.0.0.3, 10.0.0.2, 10.0.0.1", "10.0.0.3"],
    ["is the address of a proxy that sent an invalid address", ["10.0.0.0/8"], "1.1.1.1, <script>, 10.0.0.1", "10.0.0.1"],
    ["is the address of a proxy that sent an empty address", ["10.0.0.0/8"], "1.1.1.1, , 10.0.0.1", "10.0.0.1"],
    ["is the address of a proxy that named no client", ["10.0.0.0/8"], "10.0.0.1", "10.0.0.1"],
    ["is found after a leading comma", ["10.0.0.0/8"], ", 10.0.0.1", "10.0.0.1"],
    ["is undefined without a header", ["10.0.0.0/8"], undefined, undefined],
    ["is undefined when the peer is not an address", ["10.0.0.0/8"], "1.1.1.1, unknown", undefined],
    ["is the address named by a peer on a trusted socket", ["unix"], "1.1.1.1, unknown", "1.1.1.1"],
    ["is undefined for a socket's peer when only addresses are trusted", ["loopback", "private"], "1.1.1.1, unknown", undefined],
    ["is not found before an invalid entry", ["unix", "private"], "1.1.1.1, unknown, 10.0.0.1", "10.0.0.1"],
    ["is an IPv4 address when mapped to IPv6", ["::ffff:10.0.0.1"], "1.1.1.1, ::ffff:a00:1", "1.1.1.1"],
    ["can have a port", ["loopback"], "1.1.1.1:4711, 127.0.0.1:80", "1.1.1.1"],
    ["can have brackets and a port", ["loopback"], "[2001:DB8::1]:443, [::1]:80", "2001:db8:0:0:0:0:0:1"],
    ["can have brackets", ["loopback"], "[2001:db8::1], ::1", "2001:db8:0:0:0:0:0:1"],
    ["can have a zone", [], "fe80::1%eth0", "fe80:0:0:0:0:0:0:1"],
    ["is not an octal address", ["10.0.0.0/8"], "1.1.1.1, 010.0.0.1", undefined],
    ["is not an address with spaces in it", ["10.0.0.0/8"], "1.1.1.1, 10.0.0.1 10.0.0.2", undefined],
    ["is not an address with an empty port", ["10.0.0.0/8"], "1.1.1.1, 10.0.0.1:", undefined],
    ["is not found behind more than 32 proxies", ["private"], `1.1.1.1${", 10.0.0.1".repeat(40)}`, "10.0.0.1"],
    ["is found behind a range of IPv6", ["2001:db8::/32"], "1.1.1.1, 2001:db8:ffff::9", "1.1.1.1"],
    ["is the peer beside a range of IPv6", ["2001:db8::/32"], "1.1.1.1, 2001:db9::9", "2001:db9:0:0:0:0:0:9"],
  ];
  test.each(cases)("is read from X-Forwarded-For as trustedProxies permits (rule: the address %s)", (_what, trusted, chain, client) => {
    expect(clientOf(trusted, chain)).toBe(client);
  });

  test("is the last entry of X-Forwarded-For without trusted proxies", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), headerText)), fc.ipV4(), (claims, peer) => {
        expect(clientOf([], [...claims, peer].join(", "))).toBe(peer);
      }),
    );
  });

  test("is independent of entries before the entry that a trusted proxy added", () => {
    const stranger = fc.ipV4().filter((address) => !address.startsWith("10."));
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), headerText)), stranger, fc.nat(3), (claims, client, proxies) => {
        const chain = [...claims, client, ...Array.from({ length: proxies + 1 }, (_, index) => `10.0.0.${index}`)];
        expect(clientOf(["10.0.0.0/8"], chain.join(", "))).toBe(client);
      }),
    );
  });
});

describe("an IP address", () => {
  test("is parsed when net.isIP accepts the text, and is otherwise rejected", () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.ipV4Extended(), headerText), (text) => {
        expect(parseIpAddress(text) !== undefined).toBe(isIP(bareOf(text)) !== 0);
      }),
    );
  });

  test("has one canonical form, and parsing this form returns the same address", () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        const address = parseIpAddress(text);
        expect(parseIpAddress(address?.text ?? "")).toEqual(address);
        expect(parseIpAddress(text.toUpperCase())).toEqual(address);
        if (address?.family === "ipv6") expect(new URL(`http://[${address.text}]/`).host).toBe(new URL(`http://[${text}]/`).host);
      }),
    );
  });

  test("counts in rate limits as its /64 network if it is an IPv6 address", () => {
    expect(networkOf("2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1:2::/64");
    expect(networkOf("2001:db8:1:2::9")).toBe("2001:db8:1:2::/64");
    expect(networkOf("2001:db8:1:3::9")).not.toBe(networkOf("2001:db8:1:2::9"));
    expect(networkOf("::ffff:192.0.2.1")).toBe("192.0.2.1");
    expect(networkOf("::ffff:192.0.2.2")).not.toBe(networkOf("::ffff:192.0.2.1"));
  });
});

describe("an entry of trustedProxies", () => {
  const sound = ["10.0.0.1", "10.0.0.0/8", "0.0.0.0/0", "::1", "2001:db8::/32", "::/0", "::ffff:10.0.0.1", "loopback", "private", "unix"];
  test.each(sound)("is accepted with the value %s", (entry) => {
    expect(trustedProxyProblem(entry)).toBeUndefined();
    expect(() => new ClientAddresses([entry])).not.toThrow();
  });

  const broken = [
    "",
    "localhost",
    "10.0.0.0/33",
    "::/129",
    "10.0.0/8",
    "::ffff:10.0.0.0/104",
    "::ffff:10.0.0.0/24",
    "10.0.0.1:80",
    "[::1]",
    "*",
  ];
  test.each(broken)("is rejected with the value %j", (entry) => {
    expect(trustedProxyProblem(entry)).toContain("is not an address");
    expect(() => new ClientAddresses([entry])).toThrow(TypeError);
  });
});
