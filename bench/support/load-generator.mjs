import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("report.lua", import.meta.url));
const substitute = fileURLToPath(new URL("autocannon-load.mjs", import.meta.url));
const warmUpSeconds = 1;

/** Uses wrk if installed, because wrk leaves most of the machine to the servers. Otherwise uses autocannon. */
export class LoadGenerator {
  #version = /^wrk (?:debian\/)?([^\s[]+)/.exec(spawnSync("wrk", ["-v"], { encoding: "utf8" }).stdout ?? "")?.[1];

  get name() {
    return this.#version === undefined ? "autocannon" : `wrk ${this.#version}`;
  }

  /**
   * Sends a load without a report, so that V8 compiles the server's code and the server allocates memory for its connections.
   * `target.warmUp` sets the load.
   */
  async warmUp(stage, { warmUp, ...target }) {
    await this.measure(stage, { ...target, seconds: warmUpSeconds, ...warmUp });
  }

  /**
   * Returns requests per second and latency. Throws if a response failed or had less than `leastBytes` bytes. Requests each path `inARow`
   * times before the next, with the Host header from the same position in `hosts`.
   */
  async measure(stage, target) {
    const plan = {
      connections: 32,
      seconds: stage.settings.secondsPerRound,
      method: "GET",
      headers: {},
      bodyBytes: 0,
      paths: [],
      hosts: [],
      inARow: 1,
      ...target,
    };
    const output = await (this.#version === undefined ? runAutocannon(stage, plan) : runWrk(stage, plan));
    const line = /^report (.*)$/m.exec(output)?.[1];
    if (line === undefined) throw new Error(`no report of the load on ${plan.url}:\n${output}`);
    const report = JSON.parse(line);
    if (report.errors > 0) throw new Error(`${plan.url}: ${report.errors} of ${report.requests} requests failed`);
    if (report.bytes / report.requests < (plan.leastBytes ?? 1))
      throw new Error(`${plan.url}: answers of ${report.bytes / report.requests} bytes`);
    return { perSecond: report.requests / report.seconds, p50Ms: report.p50Ms, p99Ms: report.p99Ms };
  }
}

async function runWrk(stage, { url, connections, seconds, method, headers, bodyBytes, paths, hosts, inARow }) {
  const headerLines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return await stage.run("wrk", ["-t1", `-c${connections}`, `-d${seconds}s`, "-s", script, url], {
    env: {
      PATH: process.env.PATH,
      BENCH_METHOD: method,
      BENCH_BODY_BYTES: String(bodyBytes),
      BENCH_HEADERS: headerLines.join("\n"),
      BENCH_PATHS: paths.join("\n"),
      BENCH_HOSTS: hosts.join("\n"),
      BENCH_IN_A_ROW: String(inARow),
    },
  });
}

async function runAutocannon(stage, plan) {
  return await stage.run(process.execPath, [substitute, JSON.stringify(plan)]);
}
