import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const project = fileURLToPath(new URL("../..", import.meta.url));
const release = "bookworm";
const packages = "systemd,systemd-sysv,dbus,util-linux,ca-certificates,curl,iproute2,procps";
/** Folder that is kept between test runs, because creating the image takes 90 s. */
const image = path.join(project, "node_modules/.cache/runtimectl", `${release}-image`);
/** Time limit for creating the image from a slow mirror. */
export const imageTimeoutMs = 600_000;
/** Time limit from the boot to the end of the script. */
export const bootTimeoutMs = 180_000;

const unit = `[Unit]
After=network.target
[Service]
Type=oneshot
ExecStart=/bin/bash /test/script
ExecStopPost=/usr/bin/systemctl poweroff
[Install]
WantedBy=multi-user.target
`;

/** Text that the script prints before the name of each step. */
const marker = "#### ";

/** Creates a Debian image with systemd. Needs root, debootstrap and a mirror. */
export async function ensureImage(): Promise<void> {
  if (existsSync(image)) return;
  const unfinished = `${image}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(path.dirname(image), { recursive: true });
  await run("debootstrap", ["--variant=minbase", `--include=${packages}`, release, unfinished, await mirror()], {
    timeout: imageTimeoutMs,
    maxBuffer: 64 * 1024 * 1024,
  });
  await rename(unfinished, image);
}

/** Returns the package mirror of this machine. */
async function mirror(): Promise<string> {
  const { stdout } = await run("apt-get", ["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]);
  return stdout.split("\n")[0] ?? "http://deb.debian.org/debian";
}

/**
 * Boots a copy of the image with systemd and no network. The built project is in /opt/runtimectl, `files` are in /test. Bash runs the
 * steps in order. Returns the output of each step.
 */
export async function bootMachine(
  steps: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const folder = await mkdtemp(path.join(tmpdir(), "runtimectl-boot-"));
  try {
    return await bootIn(folder, steps, files);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function bootIn(
  folder: string,
  steps: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const [root, test] = [path.join(folder, "root"), path.join(folder, "test")];
  await run("cp", ["--archive", "--reflink=auto", image, root]);
  await mkdir(path.join(root, "opt/runtimectl"));
  const script = Object.entries(steps).map(([name, commands]) => `printf "\\n${marker}${name}\\n"\n${commands}`);
  for (const [name, text] of Object.entries({ ...files, script: ["exec > /test/output 2>&1", ...script].join("\n") })) {
    await mkdir(path.dirname(path.join(test, name)), { recursive: true });
    await writeFile(path.join(test, name), text);
  }
  await chmod(test, 0o755);
  await writeFile(path.join(root, "usr/bin/node"), "");
  await writeFile(path.join(root, "etc/hosts"), "127.0.0.1 localhost\n::1 localhost\n");
  await writeFile(path.join(root, "etc/systemd/system/script.service"), unit);
  await run("systemctl", ["--root", root, "enable", "script.service"]);
  const binds = [`--bind-ro=${project}:/opt/runtimectl`, `--bind-ro=${process.execPath}:/usr/bin/node`, `--bind=${test}:/test`];
  const machine = `runtimectl-test-${process.pid}`;
  const boot = [
    "--directory",
    root,
    "--boot",
    `--machine=${machine}`,
    "--register=no",
    "--keep-unit",
    "--private-network",
    // The container's filter denies these calls: systemd 252 does not know them. A real machine has them.
    "--system-call-filter=landlock_create_ruleset landlock_add_rule landlock_restrict_self",
    ...binds,
  ];
  await run("systemd-nspawn", boot, { timeout: bootTimeoutMs, maxBuffer: 16 * 1024 * 1024 }).catch(async (error: unknown) => {
    const output = await readFile(path.join(test, "output"), "utf8").catch(() => "");
    // systemd-nspawn also fails when it cannot unmount at the end, after all steps have run.
    if (!output.includes(`${marker}end`)) throw new Error(`the machine did not come to its end:\n${output}`, { cause: error });
  });
  const output = await readFile(path.join(test, "output"), "utf8");
  const parts = output.split(new RegExp(`^${marker}`, "m")).slice(1);
  return Object.fromEntries(parts.map((part) => [part.slice(0, part.indexOf("\n")), part.slice(part.indexOf("\n") + 1).trim()]));
}
