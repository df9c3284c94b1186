import { readdirSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { bootMachine, bootTimeoutMs, ensureImage, imageTimeoutMs } from "./boot-machine.js";

/** These tests start a browser, which the unit does not allow, or need a daemon that starts as root. */
const excluded = new Set([
  "acts-as-the-operator-from-the-host-of-workers.test.ts",
  "locks-the-operator-out-by-cookies.test.ts",
  "reads-the-operators-key-on-a-port-of-its-own.test.ts",
  "keeps-the-capabilities-of-root.test.ts",
  "leaves-programs-running.test.ts",
]);
const attacks = readdirSync(new URL("../security", import.meta.url)).filter((name) => !excluded.has(name));

const report = "runtimed/report.json";
const program = [
  "/usr/bin/node /opt/runtimectl/node_modules/vitest/vitest.mjs run --configLoader runner --root /opt/runtimectl --project security",
  ...attacks.map((name) => `test/security/${name}`),
  `--reporter json --outputFile %S/${report}`,
].join(" ");

/** Lines of the shipped unit that change, because the unit starts a test runner in place of the daemon. The runner opens free ports. */
const changedLines = {
  ExecStart: `ExecStart=${program}`,
  Type: "Type=oneshot",
  Restart: "Environment=HOME=%S/runtimed",
  WatchdogSec: "",
  SocketBindDeny: "",
  "Requires=runtimed.socket": "",
};
const edits = Object.entries(changedLines).map(([start, line]) => `-e 's|^${start}.*|${line}|'`);

const steps = {
  install: `export HOME=/root PATH=/usr/bin:/bin:/usr/sbin:/sbin
node /opt/runtimectl/bin/runtimectl.js daemon install --yes; systemctl stop runtimed.socket runtimed`,
  strict: `sed ${edits.join(" ")} /etc/systemd/system/runtimed.service > /run/systemd/system/attacks.service
systemctl daemon-reload; systemctl show attacks -p Environment | grep -o RUNTIME_ISOLATION=strict`,
  attacks: "systemctl start attacks 2>/dev/null; systemctl show --value -p ExecMainStatus attacks",
  report: `cat /var/lib/private/${report}`,
  end: "",
};

/** Format of vitest's JSON reporter. */
interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

let output: Record<string, string>;

beforeAll(async () => {
  await ensureImage();
  output = await bootMachine(steps, {});
}, imageTimeoutMs + bootTimeoutMs);

test("the attacks of test/security fail under the shipped unit with strict isolation", () => {
  expect(output["strict"]).toBe("RUNTIME_ISOLATION=strict");
  const { numPassedTests, testResults } = JSON.parse(output["report"] ?? "") as Report;
  const others = testResults.flatMap(({ name, message, assertionResults }) => [
    ...(message === "" ? [] : [`${name}: ${message}`]),
    ...assertionResults
      .filter(({ status }) => status !== "passed")
      .map(({ status, fullName, failureMessages = [] }) => `${status}: ${fullName}\n${failureMessages.join("\n")}`),
  ]);
  expect(others).toEqual([]);
  expect(testResults).toHaveLength(attacks.length);
  expect(numPassedTests).toBeGreaterThan(200);
  expect(output["attacks"]).toBe("0");
});
