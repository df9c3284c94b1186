import { describe, expect, test } from "vitest";
import { readableSystemPaths, runnableSystemPaths } from "../../../../../src/server/workers/sandbox/sandbox-paths.js";

describe("the system paths that programs of a worker can read", () => {
  test("include a whole system folder that contains no folder of the daemon", () => {
    const paths = runnableSystemPaths({ allowsPrograms: true, closed: ["/srv/state"] });
    expect(paths).toEqual(expect.arrayContaining(["/usr", "/opt", "/lib"]));
  });

  test("exclude files with secrets of the machine, such as /etc/shadow", () => {
    const paths = [...readableSystemPaths({ allowsPrograms: true }), ...readableSystemPaths({ allowsPrograms: false })];
    expect(paths).toContain("/etc/passwd");
    for (const secret of ["/etc", "/etc/shadow", "/etc/ssl/private", "/etc/ssh"]) expect(paths).not.toContain(secret);
  });

  test("exclude a folder of the daemon inside a system folder", () => {
    const paths = runnableSystemPaths({ allowsPrograms: true, closed: ["/usr/share/doc", "/usr/lib/os-release"] });
    expect(paths).toEqual(expect.arrayContaining(["/usr/bin", "/usr/share/zoneinfo"]));
    for (const path of ["/usr", "/usr/share", "/usr/share/doc", "/usr/lib", "/usr/lib/os-release", "/lib"])
      expect(paths).not.toContain(path);
    const settings = readableSystemPaths({ allowsPrograms: true, closed: ["/etc/ssl/certs"] });
    expect(settings).toContain("/etc/passwd");
    expect(settings).not.toContain("/etc");
    expect(settings).not.toContain("/etc/ssl/certs");
  });
});
