import { describe, expect, test } from "vitest";
import { automaticLabel, targetOfLabel } from "../../../../src/shared/automatic-host.js";
import { normalHostName } from "../../../../src/shared/host-name.js";

describe("the automatic host label", () => {
  test.each([
    ["shop", undefined, "shop"],
    ["@team/shop", undefined, "shop--team"],
    ["shop", "1.4.2", "v1-4-2---shop"],
    ["@team/shop", "10.0.0", "v10-0-0---shop--team"],
    ["v1-4-2", undefined, "v1-4-2"],
    ["a", undefined, "a"],
  ])("for the worker %s and the version %s is the text %s", (name, version, label) => {
    expect(automaticLabel(name, version)).toEqual({ label });
    expect(targetOfLabel(label)).toEqual({ name, version });
  });

  test.each([
    ["my--shop", undefined],
    ["shop.js", undefined],
    ["my_shop", undefined],
    ["shop-", undefined],
    ["@my.team/shop", undefined],
    ["@team-/shop", undefined],
    ["@team/ab", undefined],
    ["a".repeat(64), undefined],
    [`@${"b".repeat(40)}/${"a".repeat(30)}`, undefined],
    ["shop", "1.4.2-beta.1"],
    ["shop", "1.4.2+build"],
    ["shop", "latest"],
  ])("does not exist, and a reason is given, for the worker %s and the version %s", (name, version) => {
    expect(automaticLabel(name, version)).toEqual({ reason: expect.any(String) as string });
  });

  test.each(["xn--shop", "a--b--c", "v01-4-2---shop", "shop--", "--team", "", "SHOP", "v1-4---shop", "ab--team"])(
    "is never the invalid text %s",
    (label) => {
      expect(targetOfLabel(label)).toBeUndefined();
    },
  );

  test("is different for each of 100,000 generated names and versions", () => {
    const parts = ["a", "b", "ab", "a-b", "v1", "v1-2-3", "x1", "0", "team", "a1-b2"];
    const seen = new Map<string, string>();
    let random = 7;
    const next = (count: number) => {
      random = (random * 48_271) % 2_147_483_647;
      return random % count;
    };
    const word = () => Array.from({ length: 1 + next(3) }, () => parts[next(parts.length)]).join(["", "-", "--", "."][next(4)]);
    let labels = 0;
    for (let index = 0; index < 100_000; index += 1) {
      const name = next(2) === 0 ? word() : `@${word()}/${word()}`;
      const version = next(3) === 0 ? `${next(20)}.${next(20)}.${next(20)}` : undefined;
      const automatic = automaticLabel(name, version);
      if (!("label" in automatic)) continue;
      labels += 1;
      const subject = `${name} ${version}`;
      expect(seen.get(automatic.label) ?? subject).toBe(subject);
      seen.set(automatic.label, subject);
      expect(targetOfLabel(automatic.label)).toEqual({ name, version });
    }
    expect(labels).toBeGreaterThan(30_000);
  });
});

describe("a host name", () => {
  test.each([
    ["Shop.Example.ORG", "shop.example.org"],
    ["shop.example.org.", "shop.example.org"],
    ["münchen.example", "xn--mnchen-3ya.example"],
    [" intranet ", "intranet"],
  ])("is normalized from %j to %s", (text, name) => {
    expect(normalHostName(text)).toBe(name);
  });

  test.each([
    "",
    "shop.test:80",
    "127.0.0.1",
    "0x7f.1",
    "[::1]",
    "a_b.test",
    "-a.test",
    "a..test",
    "*.test",
    "a/b",
    "user@a.test",
    "a".repeat(64),
  ])("is rejected as invalid for the text %j", (text) => {
    expect(normalHostName(text)).toBeUndefined();
  });
});
