import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { IsolateCommand } from "../../src/server/workers/isolates/isolate-command.js";
import { probeKernelLayers } from "../../src/server/workers/sandbox/probe-kernel-layers.js";
import { sandboxCommand } from "../../src/server/workers/sandbox/sandbox-command.js";
import { layerNames, type SandboxPolicy } from "../../src/server/workers/sandbox/sandbox-policy.js";

/** The kernel accepts no rule for a file of this kind. */
const withoutRule = "/proc/self/ns/net";

const policy: SandboxPolicy = {
  readable: [withoutRule],
  runnable: ["/usr", "/lib", "/lib64", "/bin"],
  grantedReadable: [],
  writable: [],
  removable: [],
  network: "any",
  allowsUdp: false,
  allowsUnixSockets: false,
  allowsPrograms: false,
  allowsAttributes: false,
  descriptors: [],
  required: layerNames,
};

test("the sandbox launcher starts no program when a required layer cannot be applied", async () => {
  const [file, ...args] = sandboxCommand(policy) as [string, ...string[]];
  await expect(promisify(execFile)(file, [...args, "/bin/echo", "started"])).rejects.toMatchObject({
    code: 78,
    stdout: "",
    stderr: expect.stringContaining("Landlock is missing"),
  });
});

test("isolates start only with every isolation layer that the kernel supports", async () => {
  const command = new IsolateCommand({
    allowsNetwork: true,
    isStrict: false,
    closedFolders: [],
    temporaryFolderMaxBytes: 1,
    layers: probeKernelLayers(),
  });
  const network = { mode: "public", allowsLoopback: false, allow: [] } as const;
  const { args } = await command.build({ memoryBytes: 1, permissions: [], network, slot: "/slot", user: undefined, sharing: "none" });
  expect(args.join(" ")).toContain('"required":["landlock","seccomp"]');
});
