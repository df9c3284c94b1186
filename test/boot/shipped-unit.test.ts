import { beforeAll, describe, expect, test } from "vitest";
import { bootMachine, bootTimeoutMs, ensureImage, imageTimeoutMs } from "./boot-machine.js";

/** Tries actions that the shipped unit must block: write through V8 flags, listen on a port, bind a UDP port, read outside its folder. */
const attacker = `export default { async fetch() {
  const v8 = await import("node:v8");
  const outcome = async (attempt) => { try { await attempt(); return "done"; } catch (error) { return error.code ?? error.message; } };
  const flags = await outcome(() => ["--redirect-code-traces", "--redirect-code-traces-to=/var/lib/runtimed/state/keys.db", "--trace-opt"].forEach(v8.setFlagsFromString));
  const hot = new Function("a", "let s = 0; for (let i = 0; i < 1000; i++) s += i * a; return s");
  for (let i = 0; i < 20000; i++) hot(i);
  (await import("node:net")).createServer().listen(3999);
  const { createSocket } = await import("node:dgram");
  const bind = await outcome(() => new Promise((resolve, reject) => createSocket("udp4").on("error", reject).bind(3999, resolve)));
  const parent = await outcome(async () => (await import("node:fs")).readdirSync(process.argv[2] + "/app/.."));
  const state = await outcome(async () => (await import("node:fs")).readdirSync("/var/lib/runtimed/state"));
  return Response.json({ flags, bind, parent, state });
} };`;

const files = {
  "apps/attacker/manifest.yaml": "name: attacker\nversion: 1.0.0\n",
  "apps/attacker/index.js": attacker,
  "apps/hello/manifest.yaml": "name: hello\nversion: 1.0.0\n",
  "apps/hello/index.js": "export default { fetch: () => new Response('hello') };",
  // Counts the requests that fail while the service restarts.
  "load.mjs": `let [ok, failed, isOver] = [0, 0, false];
process.on("SIGTERM", () => (isOver = true));
while (!isOver) await fetch("http://127.0.0.1:8000/hello/").then(async (r) => (await r.text()) === "hello" ? ok++ : failed++, () => failed++);
console.log(JSON.stringify({ failed, hasServed: ok > 0 }));`,
};

const ready = "for i in $(seq 100); do curl -sf -o /dev/null http://127.0.0.1:8000/api/health/ready && break; sleep 0.1; done";
const steps = {
  prepare: `export HOME=/root PATH=/usr/bin:/bin:/usr/sbin:/sbin
runtimectl() { node /opt/runtimectl/bin/runtimectl.js "$@"; }`,
  install: "runtimectl daemon install --yes",
  started: `${ready}; systemctl is-active runtimed runtimed.socket`,
  addresses: "for host in 127.0.0.1 '[::1]'; do curl -s -o /dev/null -w '%{http_code}\\n' http://$host:8000/api/health/ready; done",
  isolation: `grep -c '^Environment=RUNTIME_ISOLATION=strict$' /etc/systemd/system/runtimed.service
curl -s -H "X-API-Key: $(cat /etc/runtimed/root-key)" 'http://127.0.0.1:8000/api/health/ready?verbose=1'`,
  exposure: "systemd-analyze security runtimed --no-pager | tail -1",
  "sign in": "runtimectl auth login --url http://127.0.0.1:8000 --key-file /etc/runtimed/root-key",
  upload: "runtimectl workers upload /test/apps/hello >/dev/null 2>&1 && curl -s http://127.0.0.1:8000/hello/",
  attack: "runtimectl workers upload /test/apps/attacker >/dev/null 2>&1 && curl -s http://127.0.0.1:8000/attacker/",
  // Exit code 7 of curl means that the connection was refused.
  "port of the attack": "curl -s http://127.0.0.1:3999/; echo $?",
  "key store": "stat -c %s /var/lib/private/runtimed/state/keys.db",
  "restart under load": `node /test/load.mjs > /test/load.json & load=$!
sleep 1; systemctl restart runtimed; ${ready}; sleep 1
kill $load; wait $load; cat /test/load.json`,
  watchdog: `pid=$(systemctl show --value -p MainPID runtimed)
mkdir -p /run/systemd/system/runtimed.service.d; printf '[Service]\\nWatchdogSec=2\\n' > /run/systemd/system/runtimed.service.d/test.conf
systemctl daemon-reload; systemctl restart runtimed; ${ready}
pid=$(systemctl show --value -p MainPID runtimed); kill -STOP $pid
for i in $(seq 150); do [ "$(systemctl show --value -p MainPID runtimed)" != $pid ] && break; sleep 0.1; done
${ready}; systemctl show --value -p NRestarts runtimed; curl -s http://127.0.0.1:8000/hello/`,
  "bad configuration": `printf '[Service]\\nEnvironment=RUNTIME_POOL_SIZE=many\\n' > /run/systemd/system/runtimed.service.d/test.conf
systemctl daemon-reload; systemctl restart runtimed 2>/dev/null; sleep 5
systemctl show --value -p ExecMainStatus runtimed; systemctl show --value -p NRestarts runtimed
rm -r /run/systemd/system/runtimed.service.d; systemctl daemon-reload; systemctl reset-failed runtimed; systemctl restart runtimed runtimed.socket; ${ready}`,
  again: "runtimectl daemon install --yes",
  secrets:
    "journalctl --no-pager | grep -cf /etc/runtimed/root-key; cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -cf /etc/runtimed/root-key",
  uninstall:
    "runtimectl daemon uninstall --yes >/dev/null; systemctl is-active runtimed; ls /etc/systemd/system | grep runtimed; ls /var/lib/private/runtimed",
  end: "",
};

describe("the service of the shipped systemd unit on a booted machine", () => {
  let output: Record<string, string>;

  beforeAll(async () => {
    await ensureImage();
    output = await bootMachine(steps, files);
  }, imageTimeoutMs + bootTimeoutMs);

  test("listens on 127.0.0.1 and ::1, and systemd rates its exposure at most 1.5", () => {
    expect(output["started"]).toBe("active\nactive");
    expect(output["addresses"]).toBe("200\n200");
    expect(Number(/level for runtimed.service: ([\d.]+)/.exec(output["exposure"] ?? "")?.[1])).toBeLessThanOrEqual(1.5);
  });

  test("enables strict isolation with Landlock and seccomp", () => {
    expect(output["isolation"]).toMatch(/^1\n/);
    for (const layer of ["landlock", "seccomp"]) expect(output["isolation"]).toContain(`{"name":"isolation:${layer}","status":"ok"`);
  });

  test("serves an uploaded worker", () => {
    expect(output["upload"]).toBe("hello");
  });

  test("prevents a worker from using V8 flags, ports, UDP, other folders and stored keys", () => {
    const { flags, bind, parent, state } = JSON.parse(output["attack"] ?? "") as Record<string, string>;
    expect(flags).toContain("not available to workers");
    expect([bind, parent, state]).toEqual(["EACCES", "ERR_ACCESS_DENIED", "ERR_ACCESS_DENIED"]);
    expect(output["port of the attack"]).toBe("7");
    expect(Number(output["key store"])).toBeGreaterThan(0);
  });

  test("drops no request during a restart", () => {
    expect(JSON.parse(output["restart under load"] ?? "")).toEqual({ failed: 0, hasServed: true });
  });

  test("is restarted when it hangs, but not when it exits with code 78", () => {
    expect(output["watchdog"]).toBe("1\nhello");
    expect(output["bad configuration"]).toBe("78\n0");
  });

  test("does not show the root key in journal or ps, and keeps data after an uninstall", () => {
    expect(output["again"]).toContain("nothing to do");
    expect(output["secrets"]).toBe("0\n0");
    expect(output["uninstall"]).toMatch(/^inactive\n(?!.*\.service)[\s\S]*state/);
  });
});
