import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { exposureOf, highestExposure } from "./exposure.js";
import { runTool } from "./run-tool.js";

const runtimectl = fileURLToPath(new URL("../../bin/runtimectl.js", import.meta.url));

/** Creates an image and a command line for it. Node must be visible to a service: outside of home directories. */
async function image() {
  const root = await temporaryDirectory();
  const run = (...words: string[]) => runTool(process.execPath, runtimectl, "daemon", ...words, "--root", root);
  const install = (...words: string[]) => run("install", "--yes", ...words);
  return { root, run, install, units: path.join(root, "etc/systemd/system"), keyFile: path.join(root, "etc/runtimed/root-key") };
}

describe("the installation of units into a system image", () => {
  test("writes valid units, enables them and creates a root key that only root can read", async () => {
    const { install, units, keyFile } = await image();

    const { status, output } = await install("--listen", "[::1]:8123");

    expect({ status, output }).toMatchObject({ status: 0 });
    const key = (await readFile(keyFile, "utf8")).trim();
    expect(key).toMatch(/^[\w-]{43}$/);
    expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
    expect((await stat(path.dirname(keyFile))).mode & 0o777).toBe(0o700);
    expect(output).not.toContain(key);
    expect(await readdir(path.join(units, "multi-user.target.wants"))).toEqual(["runtimed.service"]);
    expect(await readdir(path.join(units, "sockets.target.wants"))).toEqual(["runtimed.socket"]);
    const files = ["runtimed.service", "runtimed.socket"].map((file) => path.join(units, file));
    expect(await readFile(files[1] ?? "", "utf8")).toContain("\nListenStream=[::1]:8123\n");
    expect(await runTool("systemd-analyze", "verify", ...files)).toEqual({ status: 0, output: "" });
    expect(await exposureOf(files[0] ?? "")).toBeLessThanOrEqual(highestExposure);
  });

  test("changes nothing when repeated, and keeps the root key when a unit is replaced", async () => {
    const { install, units, keyFile } = await image();
    await install();
    const key = await readFile(keyFile, "utf8");

    expect(await install()).toEqual({ status: 0, output: "nothing to do\n" });
    await writeFile(path.join(units, "runtimed.service"), "changed by hand");
    const { output } = await install();

    expect(output).toContain(`replace ${units}/runtimed.service`);
    expect(output).not.toContain("runtimed.socket\nwrite");
    expect(await readFile(path.join(units, "runtimed.service"), "utf8")).toContain("Type=notify");
    expect(await readFile(keyFile, "utf8")).toBe(key);
  });

  test("keeps the panel host of an existing unit if --panel-host is not set", async () => {
    const { install, units } = await image();
    const unit = async () => await readFile(path.join(units, "runtimed.service"), "utf8");
    await install("--panel-host", "panel.example.org");

    expect(await install()).toEqual({ status: 0, output: "nothing to do\n" });
    expect(await unit()).toContain("\nEnvironment=RUNTIME_PANEL_HOST=panel.example.org\n");
    await install("--panel-host", "other.example.org");
    expect(await unit()).toContain("\nEnvironment=RUNTIME_PANEL_HOST=other.example.org\n");
  });

  test("is reverted by an uninstall; state and root key are deleted only with --purge", async () => {
    const { root, install, run, units, keyFile } = await image();
    await install();
    const state = path.join(root, "var/lib/private/runtimed/state");
    await mkdir(state, { recursive: true });

    expect(await run("uninstall", "--yes")).toMatchObject({ status: 0 });

    expect(await readdir(units, { recursive: true })).not.toContain("runtimed.service");
    expect(await readdir(path.join(units, "multi-user.target.wants")).catch(() => [])).toEqual([]);
    expect((await stat(keyFile)).isFile()).toBe(true);
    expect((await stat(state)).isDirectory()).toBe(true);
    expect(await run("uninstall", "--purge")).toMatchObject({ status: 2 });
    expect((await stat(state)).isDirectory()).toBe(true);
    expect(await run("uninstall", "--purge", "--yes")).toMatchObject({ status: 0 });
    await expect(stat(keyFile)).rejects.toThrow("ENOENT");
    await expect(stat(state)).rejects.toThrow("ENOENT");
  });
});
