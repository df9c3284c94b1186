/** Where a request with a Host spelling leads: to a worker, to the daemon's own pages, to no worker, or to an error. */
export type Outcome =
  | "alpha"
  | "beta"
  | "team alpha"
  /** The host serves the API, the panel and the workers by path. */
  | "daemon"
  /** The host serves only the API and the panel. */
  | "panel"
  /** Status 404, because the host is below the app domain and no worker has the name. */
  | "no worker"
  /** Status 400 with an error body. */
  | "invalid"
  /** Status 421 with an error body. */
  | "not served";

export interface Spelling {
  readonly outcome: Outcome;
  /** Header lines, such as `Host: alpha.test`. Characters stand for bytes. */
  readonly lines: readonly string[];
  /** Scheme and host before the path in the request target. */
  readonly origin: string;
  readonly version: "1.0" | "1.1";
}

/** The variables for which the outcomes hold. `alpha.test`, `xn--mnchen-3ya.test` and `old.test` lead to alpha, `beta.test` to beta. */
export const hostVariables = { RUNTIME_APP_DOMAIN: "apps.test", RUNTIME_PANEL_HOST: "panel.test", RUNTIME_PUBLIC_URL: "https://main.test" };

const latin = (text: string) => Buffer.from(text).toString("latin1");
const longLabel = "a".repeat(64);

const alone: Readonly<Record<Exclude<Outcome, "not served">, readonly string[]>> = {
  alpha: [
    "alpha.test",
    "ALPHA.TEST",
    "aLpHa.TeSt",
    "alpha.test:80",
    "alpha.test:443",
    "alpha.test:8000",
    "alpha.test:65535",
    "alpha.test:0",
    "alpha.test.",
    "ALPHA.test.:8443",
    "xn--mnchen-3ya.test",
    "XN--MNCHEN-3YA.test",
    "xn--mnchen-3ya.test.:1",
    "old.test",
    "alpha.apps.test",
    "ALPHA.Apps.Test",
    "alpha.apps.test:9",
    "alpha.apps.test.",
    "v1-0-0---alpha.apps.test",
    "V1-0-0---ALPHA.apps.test.:8000",
    "  alpha.test",
    "\talpha.test",
    "alpha.test  ",
    "alpha.test\t",
    " \t alpha.test:80 \t ",
  ],
  beta: [
    "beta.test",
    "BETA.test:80",
    "beta.test.",
    "beta.apps.test",
    "v1-0-0---beta.apps.test",
    "\t Beta.apps.test.:1 ",
    "inner.alpha.test",
    "INNER.ALPHA.TEST.",
  ],
  "team alpha": ["alpha--team.apps.test", "ALPHA--TEAM.APPS.TEST:1", "v1-0-0---alpha--team.apps.test", "alpha--team.apps.test."],
  "no worker": [
    "nobody.apps.test",
    "v9-0-0---alpha.apps.test",
    "v1-0-0--alpha.apps.test",
    "v01-0-0---alpha.apps.test",
    "team--alpha.apps.test",
    "alpha--other.apps.test",
    "alpha.beta.apps.test",
    "alpha.test.apps.test",
    "-alpha.apps.test",
    "al_pha.apps.test",
    `${longLabel}.apps.test`,
    "xn--mnchen-3ya.apps.test",
    "panel.apps.test:1",
    "xn--.apps.test",
  ],
  daemon: [
    "main.test",
    "MAIN.test:8000",
    "main.test.",
    "apps.test",
    "127.0.0.1",
    "127.0.0.1:80",
    "0x7f.1",
    "127.1:8000",
    "2130706433",
    "[::1]",
    "[::1]:8000",
    "[0:0:0:0:0:0:0:1]",
    "[2001:DB8::1]:1",
    "[::ffff:127.0.0.1]",
    "localhost",
    "unknown.test",
    "test",
    "x.alpha.test",
    "alpha.test.unknown.test",
    "myalpha.test",
    "alpha-test",
    "alpha_.test",
    "evilapps.test",
    "xn--mnchen-3ya.unknown.test",
    `${longLabel}.test`,
    `${`${longLabel}.`.repeat(10)}test`,
  ],
  panel: ["panel.test", "PANEL.test", "panel.test:8443", "panel.test.", "Panel.Test.:1", " panel.test\t"],
  invalid: [
    "alpha.test..",
    "alpha..test",
    ".alpha.test",
    ".",
    "alpha.apps.test..",
    "panel.test..",
    "user@alpha.test",
    "user:word@alpha.test",
    "alpha.test@main.test",
    "alpha%2etest",
    "%61lpha.test",
    "alpha.test%00",
    "alpha.test:",
    "alpha.test:port",
    "alpha.test:65536",
    "alpha.test:-1",
    "alpha.test:80:80",
    "alpha.test/",
    "alpha.test/api/health",
    "alpha.test?",
    "alpha.test#",
    "alpha.test\\",
    "http://alpha.test",
    "alpha.test, beta.test",
    "alpha.test beta.test",
    "alpha.test\tbeta.test",
    "alpha.test;",
    '"alpha.test"',
    "<alpha.test>",
    "*.test",
    "::1",
    "[::1",
    "[::1%25lo]",
    "[alpha.test]",
    "[127.0.0.1]",
    "256.256.256.256",
    latin("münchen.test"),
    "m\xfcnchen.test",
    latin("alpha。test"),
    latin("ａlpha.test"),
    latin("αlpha.test"),
    "alpha.test\x01",
    "alpha.test\x7f",
    "alpha.test\x00",
  ],
};

const spelling = (outcome: Outcome, lines: readonly string[], more: Partial<Spelling> = {}): Spelling => ({
  outcome,
  lines,
  origin: "",
  version: "1.1",
  ...more,
});

const inTarget = (outcome: Outcome, origin: string, host: string): Spelling => spelling(outcome, [`Host: ${host}`], { origin });

const composed: readonly Spelling[] = [
  spelling("alpha", ["HOST: alpha.test"]),
  spelling("beta", ["hOsT:beta.test"]),
  spelling("alpha", ["Host: alpha.test", "X-Forwarded-Host: beta.test", "Forwarded: host=beta.test"]),
  spelling("alpha", ["X-Forwarded-Host: panel.test", "Host: alpha.test"]),
  spelling("daemon", ["Host: main.test", "X-Forwarded-Host: alpha.test"]),
  spelling("panel", ["Host: panel.test", "X-Forwarded-Host: alpha.test"]),
  spelling("alpha", ["Host: alpha.test", "X-Host: beta.test", "Hostname: beta.test"]),
  spelling("alpha", ["Host: alpha.test"], { version: "1.0" }),
  spelling("panel", ["Host: panel.test"], { version: "1.0" }),
  spelling("invalid", ["Host: user@alpha.test"], { version: "1.0" }),
  spelling("daemon", [], { version: "1.0" }),
  spelling("invalid", []),
  spelling("invalid", ["X-Forwarded-Host: alpha.test"]),
  spelling("invalid", ["Host: alpha.test", "Host: beta.test"]),
  spelling("invalid", ["Host: alpha.test", "Host: alpha.test"]),
  spelling("invalid", ["Host: panel.test", "host: alpha.test"]),
  spelling("invalid", ["Host: alpha.test", "HOST: panel.test"], { version: "1.0" }),
  spelling("invalid", ["Host:", "Host: alpha.test"]),
  spelling("invalid", ["Host : alpha.test"]),
  spelling("invalid", [" Host: alpha.test"]),
  spelling("invalid", ["Host: alpha.test", "\tbeta.test"]),
  spelling("invalid", ["Host alpha.test"]),
  // RFC 9112, section 3.2: a client without a host sends an empty one.
  spelling("daemon", ["Host:"]),
  spelling("daemon", ["Host: \t "]),
  inTarget("alpha", "http://alpha.test", "alpha.test"),
  inTarget("alpha", "HTTP://ALPHA.test", "alpha.test"),
  inTarget("alpha", "https://alpha.test:8443", "Alpha.test:8443"),
  inTarget("beta", "http://beta.apps.test", "beta.apps.test"),
  inTarget("panel", "http://panel.test", "panel.test"),
  inTarget("daemon", "http://main.test", "main.test"),
  inTarget("no worker", "http://nobody.apps.test", "nobody.apps.test"),
  inTarget("invalid", "http://alpha.test", "beta.test"),
  inTarget("invalid", "http://alpha.test", "panel.test"),
  inTarget("invalid", "http://panel.test", "alpha.test"),
  inTarget("invalid", "http://alpha.test", "main.test"),
  inTarget("invalid", "http://alpha.test", ""),
  inTarget("invalid", "http://user@alpha.test", "alpha.test"),
  inTarget("invalid", "http://alpha.test.", "alpha.test"),
  inTarget("invalid", "http://alpha.test@beta.test", "beta.test"),
  inTarget("invalid", "http://", "alpha.test"),
  inTarget("invalid", "ftp://beta.test", "alpha.test"),
  inTarget("invalid", "ws://panel.test", "alpha.test"),
  spelling("invalid", [], { origin: "http://alpha.test" }),
  spelling("invalid", [], { origin: "http://alpha.test", version: "1.0" }),
  spelling("invalid", [], { origin: "http://panel.test", version: "1.0" }),
];

/** Spellings of the host, each with the outcome that the documentation promises. */
export const spellings: readonly Spelling[] = [
  ...Object.entries(alone).flatMap(([outcome, hosts]) => hosts.map((host) => spelling(outcome as Outcome, [`Host: ${host}`]))),
  ...composed,
];

/** With `RUNTIME_ALLOWED_HOSTS=127.0.0.1,*.inner.test`: hosts of workers, the panel and the public URL are served as well. */
export const restrictedSpellings: readonly Spelling[] = [
  ...["alpha.test", "ALPHA.test.:1", "alpha.apps.test"].map((host) => spelling("alpha", [`Host: ${host}`])),
  ...["127.0.0.1", "127.1:8000", "a.inner.test", "MAIN.test."].map((host) => spelling("daemon", [`Host: ${host}`])),
  spelling("panel", ["Host: panel.test:8443"]),
  spelling("no worker", ["Host: nobody.apps.test"]),
  ...["unknown.test", "inner.test", "evilinner.test", "[::1]", "localhost", "x.alpha.test", "alpha.test.unknown.test", ""].map((host) =>
    spelling("not served", [`Host: ${host}`]),
  ),
  spelling("not served", [], { version: "1.0" }),
  ...["user@127.0.0.1", "127.0.0.1@alpha.test", "127.0.0.1/", "alpha.test.."].map((host) => spelling("invalid", [`Host: ${host}`])),
  spelling("invalid", ["Host: 127.0.0.1", "Host: unknown.test"]),
];
