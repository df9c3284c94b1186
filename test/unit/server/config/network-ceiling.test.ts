import { describe, expect, test } from "vitest";
import { NetworkCeiling, type NetworkGrant } from "../../../../src/server/config/worker-network.js";
import { parseNetworkTarget, type NetworkTarget } from "../../../../src/shared/network-target.js";

const grant = (text: string, scope?: string): NetworkGrant => ({ scope, target: parseNetworkTarget(text) as NetworkTarget });
const ceiling = new NetworkCeiling({
  mode: "public",
  grants: [grant("db.internal:5432"), grant("cache:*", "@team"), grant("unix:/run/redis.sock")],
  allowsLoopback: false,
});

describe("the operator's limit for the network of workers", () => {
  test.each([
    ["a", { mode: "public" as const, allow: [] }],
    ["a", { mode: "none" as const, allow: [] }],
    ["a", { allow: ["db.internal:5432", "DB.Internal:5432", "unix:/run/redis.sock"] }],
    ["@team/a", { allow: ["cache:6379"] }],
  ])("permits the worker %s with the network settings %j", (name, network) => {
    expect(ceiling.refusal({ network }, name)).toBeUndefined();
  });

  test.each([
    ["a", { mode: "all" as const, allow: [] }, "RUNTIME_WORKER_NETWORK."],
    ["a", { allow: ["db.internal:5433"] }, "db.internal:5433"],
    ["a", { allow: ["cache:6379"] }, "RUNTIME_WORKER_NETWORK_ALLOW"],
    ["@teams/a", { allow: ["cache:6379"] }, "cache:6379"],
    ["a", { allow: ["unix:/run/redis.sock2"] }, "unix:/run/redis.sock2"],
    ["a", { allow: ["db.internal:*"] }, "db.internal:*"],
  ])("rejects the worker %s with the network settings %j", (name, network, part) => {
    expect(ceiling.refusal({ network }, name)).toContain(part);
  });

  test("permits every network setting when its mode is `all`", () => {
    const open = new NetworkCeiling({ mode: "all", grants: [], allowsLoopback: false });
    expect(open.refusal({ network: { mode: "all", allow: ["10.0.0.1:1", "unix:/x"] } }, "a")).toBeUndefined();
  });

  test("applies unchanged to a worker whose manifest has no key `network`", () => {
    expect(ceiling.of({})).toBe(ceiling.usual);
    expect(ceiling.of({ network: { allow: ["db.internal:5432"] } })).toEqual({
      mode: "public",
      allowsLoopback: false,
      allow: ["db.internal:5432"],
    });
  });
});

test.each(["db", "db:", ":5432", "db:70000", "db:5432/x", "unix:run", "unix:/a,b", "[::1]", "a b:1", "http://a:1"])(
  "the invalid network target %j is rejected",
  (text) => {
    expect(parseNetworkTarget(text)).toBeUndefined();
  },
);
