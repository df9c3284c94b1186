import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { sandboxCommand } from "../../src/server/workers/sandbox/sandbox-command.js";
import { layerNames, type SandboxPolicy } from "../../src/server/workers/sandbox/sandbox-policy.js";
import { WorkerServer } from "../support/worker-server.js";

/** The kernel takes no rule for a file of this kind. */
const withoutRule = "/proc/self/ns/net";

const policy: SandboxPolicy = {
  readable: [withoutRule],
  runnable: ["/usr", "/lib", "/lib64", "/bin"],
  writable: [],
  network: "any",
  allowsUdp: false,
  allowsUnixSockets: false,
  allowsPrograms: false,
  descriptors: [],
  required: layerNames,
};

test("a program does not start when a required layer cannot be applied", async () => {
  const [file, ...args] = sandboxCommand(policy) as [string, ...string[]];
  await expect(promisify(execFile)(file, [...args, "/bin/echo", "started"])).rejects.toMatchObject({
    code: 78,
    stdout: "",
    stderr: expect.stringContaining("Landlock is missing"),
  });
});

test("a worker is not served without a layer that the daemon found, though its isolation is not strict", async () => {
  const server = await WorkerServer.start({ permissions: ["network", "fs-read:/proc"] });
  try {
    await server.add("app", {
      files: { "index.mjs": `export default { fetch: () => new Response("served") };` },
      manifest: { entrypoint: "index.mjs", permissions: [`fs-read:${withoutRule}`] },
    });
    expect((await fetch(`${server.url}/app/`)).status).toBe(502);
  } finally {
    await server.stop();
  }
});
