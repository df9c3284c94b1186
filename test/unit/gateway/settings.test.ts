import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readSettings } from "../../../src/gateway/settings.js";
import { runtimeKeys } from "../../../src/shared/plugin-manifest.js";

const manifestFile = fileURLToPath(new URL("../../../builtin/plugins/plugin-gateway/manifest.yaml", import.meta.url));
const guideFile = fileURLToPath(new URL("../../../docs/how-to/gateway.md", import.meta.url));

function problemOf(config: unknown): string {
  try {
    readSettings(config);
  } catch (error) {
    return (error as Error).message;
  }
  return "";
}

/** Returns the settings that the plugin gets from a manifest. */
function configOf(manifest: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(parse(manifest) as Record<string, unknown>).filter(([key]) => !runtimeKeys.has(key)));
}

const keysOf = (value: unknown): string[] => Object.keys(value as object).toSorted();

describe("an invalid setting of the gateway", () => {
  const limit = { limit: 1, window: "1m" };
  const cases: readonly (readonly [config: unknown, message: string])[] = [
    [{ rateLimits: [{ limit: 1, window: "1 fortnight" }] }, 'rateLimits[0].window: "1 fortnight" is not a duration such as 10s, 1m, 1h'],
    [{ rateLimits: [limit, { limit: 1, window: "30d" }] }, 'rateLimits[1].window: "30d" must be from 1s to 7d'],
    [{ rateLimits: [{ limit: 1, window: "10ms" }] }, 'rateLimits[0].window: "10ms" must be from 1s to 7d'],
    [{ rateLimits: [{ window: "1m" }] }, "rateLimits[0].limit: is missing"],
    [{ rateLimits: [{ limit: 0, window: "1m" }] }, "rateLimits[0].limit: 0 must be 1 or more"],
    [{ rateLimits: [{ limit: "many", window: "1m" }] }, 'rateLimits[0].limit: "many" is not a whole number'],
    [{ rateLimits: [{ ...limit, by: "user" }] }, 'rateLimits[0].by: "user" is not client, key, path or a list of these'],
    [{ rateLimits: [{ ...limit, by: ["client", "user"] }] }, 'rateLimits[0].by[1]: "user" is not client, key or path'],
    [{ rateLimits: [{ ...limit, keyHeader: "x-a" }] }, "rateLimits[0].keyHeader: has no effect without by: key"],
    [{ rateLimits: [{ ...limit, paths: ["shop"] }] }, 'rateLimits[0].paths[0]: "shop" must begin with a slash'],
    [{ rateLimits: [{ ...limit, methods: ["get"] }] }, 'rateLimits[0].methods[0]: "get" is not a method such as GET'],
    [{ rateLimits: limit }, 'rateLimits: {"limit":1,"window":"1m"} is not a list'],
    [{ rateLimits: ["x"] }, 'rateLimits[0]: "x" is not a map of settings'],
    [{ rateLimits: [{ ...limit, windows: "1m" }] }, "rateLimits[0]: has no setting windows (did you mean window?)"],
    [{ ratelimits: [] }, "has no setting ratelimits (did you mean rateLimits?)"],
    [{ unheardOf: 1 }, "has no setting unheardOf (there are trustedProxies, rateLimits, rateLimitHeaders, cors, securityHeaders)"],
    [{ rateLimitHeaders: "yes" }, 'rateLimitHeaders: "yes" is not true or false'],
    [
      { trustedProxies: ["10.0.0.0/99"] },
      'trustedProxies[0]: "10.0.0.0/99" is not an address, a range such as 10.0.0.0/8, loopback, private or unix',
    ],
    [{ trustedProxies: "loopback" }, 'trustedProxies: "loopback" is not a list'],
    [{ cors: [{}] }, "cors[0].origins: is missing"],
    [{ cors: [{ origins: [] }] }, "cors[0].origins: [] must name an origin"],
    [{ cors: [{ origins: ["example.com"] }] }, 'cors[0].origins[0]: "example.com" is not an origin such as'],
    [
      { cors: [{ origins: ["https://a.test", "*"], credentials: true }] },
      "cors[0].credentials: cannot be true for origins that include *: any page could act as its visitors; name the origins",
    ],
    [{ cors: [{ origins: ["*"], maxAge: "2d" }] }, 'cors[0].maxAge: "2d" must be up to 1d'],
    [{ cors: [{ origins: ["*"], allowedHeaders: ["a b"] }] }, 'cors[0].allowedHeaders[0]: "a b" is not the name of a header'],
    [{ securityHeaders: "yes" }, 'securityHeaders: "yes" is not true, false or a map of settings'],
    [{ securityHeaders: { frameOption: "DENY" } }, "securityHeaders: has no setting frameOption (did you mean frameOptions?)"],
    [{ securityHeaders: { frameOptions: "ALLOW" } }, 'securityHeaders.frameOptions: "ALLOW" is not DENY, SAMEORIGIN or false'],
    [{ securityHeaders: { permissionsPolicy: "a\r\nset-cookie: b" } }, "is not the value of a header: printable ASCII on one line"],
    [{ securityHeaders: { frameAncestors: ["'self'; script-src *"] } }, "is not a source such as 'self' or https://example.com"],
    [{ securityHeaders: { strictTransportSecurity: true } }, "securityHeaders.strictTransportSecurity: needs trustedProxies"],
    [
      { trustedProxies: ["loopback"], securityHeaders: { strictTransportSecurity: { preload: true } } },
      "securityHeaders.strictTransportSecurity.preload: needs includeSubDomains: true and a maxAge of 365d or more",
    ],
    ["text", '"text" is not a map of settings'],
  ];
  test.each(cases)("causes an error with the key of the setting (settings: %j)", (config, message) =>
    expect(problemOf(config)).toContain(message),
  );

  test("is listed together with all other invalid settings", () => {
    const problem = problemOf({ corss: [], rateLimits: [{ limit: "x", window: 0 }], trustedProxies: [3] });
    expect(problem.split("\n").slice(1).toSorted()).toEqual([
      "has no setting corss (did you mean cors?)",
      'rateLimits[0].limit: "x" is not a whole number',
      "rateLimits[0].window: 0 must be from 1s to 7d",
      "trustedProxies[0]: 3 is not a string",
    ]);
  });
});

describe("the built-in gateway manifest", () => {
  test("disables the gateway and configures no feature", async () => {
    const manifest = await readFile(manifestFile, "utf8");
    expect(parse(manifest)).toMatchObject({ name: "plugin-gateway", enabled: false });
    expect(configOf(manifest)).toEqual({});
  });

  test("contains a valid example of every setting", async () => {
    const manifest = await readFile(manifestFile, "utf8");
    const [, shown = ""] = manifest.split("enabled: false\n");
    // A commented setting starts with a key or a dash. Sentences do not.
    const settings = shown.replaceAll(/^# (?=[a-zA-Z]+:(?: |$)| {2})/gm, "");
    const config = configOf(settings);
    expect(problemOf(config)).toBe("");
    const { rateLimits, cors, securityHeaders } = readSettings(config);
    expect(rateLimits.map(({ name }) => name)).toEqual(["everyone", "sign-in", "api-keys"]);
    expect(cors).toHaveLength(1);
    const every = readSettings({
      trustedProxies: ["loopback"],
      rateLimits: [{ limit: 1, window: 1, block: 1, by: "key", keyHeader: "a" }],
      cors: [{ origins: ["*"], maxAge: 1 }],
      securityHeaders: { strictTransportSecurity: true, frameAncestors: ["a"], permissionsPolicy: "a", contentSecurityPolicy: "a" },
    });
    expect(keysOf(config)).toEqual(keysOf(every));
    expect([...new Set((config["rateLimits"] as object[]).flatMap(keysOf))].toSorted()).toEqual(keysOf(every.rateLimits[0]));
    expect(keysOf((config["cors"] as object[])[0])).toEqual(keysOf(every.cors[0]));
    expect(keysOf(securityHeaders)).toEqual(keysOf(every.securityHeaders));
  });
});

test("the gateway guide contains only valid manifests", async () => {
  const guide = await readFile(guideFile, "utf8");
  const manifests = [...guide.matchAll(/```yaml\n([^]*?)```/g)].map(([, text = ""]) => text);
  expect(manifests.length).toBeGreaterThan(0);
  for (const manifest of manifests) expect(problemOf(configOf(manifest)), manifest).toBe("");
});
