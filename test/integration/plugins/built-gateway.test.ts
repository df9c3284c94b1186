import { copyFile, readdir } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import type { Plugin } from "../../../src/plugin/index.js";
import { readConfig } from "../../../src/server/config/config.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { requestOf } from "../../unit/gateway/gateway-harness.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));

test("the built gateway plugin consists of one file that runs in any folder", async () => {
  const { builtInDirectory } = readConfig({}, { pid: process.pid, cwd: root, stdoutIsTerminal: false });
  expect(builtInDirectory).toBe(path.join(root, "dist/builtin"));
  const folder = path.join(builtInDirectory, "plugins/plugin-gateway");
  expect((await readdir(folder)).toSorted()).toEqual(["manifest.yaml", "plugin.js"]);

  const copy = path.join(await temporaryDirectory(), "plugin.mjs");
  await copyFile(path.join(folder, "plugin.js"), copy);
  const module = (await import(pathToFileURL(copy).href)) as { default: (config: Record<string, unknown>) => Plugin };

  const answer = await module.default({ cors: [{ origins: ["*"] }] }).onResponse?.(new Response("app"), undefined, requestOf("/"));
  expect(answer?.headers.get("access-control-allow-origin")).toBe("*");
  expect(() => module.default({ rateLimits: 1 })).toThrow("rateLimits: 1 is not a list");
});
