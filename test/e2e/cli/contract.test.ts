import { hostname } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandTree } from "../../../src/cli/command/reference.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";
import { expectFailure } from "./expect-failure.js";
import { ShellSession } from "./shell-session.js";
import { standIn } from "./stand-in.js";

let daemon: TestDaemon;
let shell: ShellSession;
const key = { RUNTIMECTL_KEY: "some-key" };

beforeAll(async () => {
  [daemon, shell] = await Promise.all([startDaemon(), ShellSession.open()]);
  await writeTree(shell.home, {
    "root.key": daemon.rootKey,
    "vars.env": "ONE=1\n",
    "app/manifest.yaml": "name: app\nversion: 1.0.0\n",
    "app/index.js": "export default { fetch: () => new Response('app') };",
    "old/manifest.yaml": "name: pair\nversion: 1.0.0\n",
    "old/index.html": "old",
    "new/manifest.yaml": "name: pair\nversion: 1.1.0\n",
    "new/index.html": "new",
    "guard/manifest.yaml": "name: guard\nversion: 1.0.0\nconfigSchema: { properties: { limit: { type: integer } } }\n",
    "guard/plugin.js": "export default {};",
    "store/manifest.yaml": "name: store\nversion: 1.0.0\ndata: 1mb\ncron:\n  - schedule: '@yearly'\n    endpoint: /\n",
    "store/index.js": "export default { fetch: () => new Response('store') };",
    "broken/manifest.yaml": "name: broken\ntimeout: soon\n",
    "broken/index.js": "",
  });
  await shell.run(`auth login --url ${daemon.url} --key-file root.key`);
  for (const folder of ["old", "new", "store"]) await shell.run(`workers upload ${folder}`);
});

afterAll(async () => {
  await daemon?.dispose();
  await shell?.close();
});

/** The commands are in an order in which each command finds the state that it needs. */
const successes: Readonly<Record<string, string>> = {
  "auth login": "auth login --key-file root.key",
  "auth status": "auth status",
  "profile add": "profile add extra --url http://127.0.0.1:1",
  "profile list": "profile list",
  "profile show": "profile show extra",
  "profile set": "profile set extra --production",
  "profile use": "profile use default",
  "profile rm": "profile rm extra",
  status: "status",
  settings: "settings",
  init: "init FRESH",
  validate: "validate app",
  pack: "pack app --out app.tgz",
  deploy: "deploy app --if-changed --check /",
  doctor: "doctor",
  "workers upload": "workers upload app",
  "workers list": "workers list",
  "workers show": "workers show app",
  "workers open": "workers open app",
  "workers rollback": "workers rollback pair",
  "workers health": "workers health app",
  "workers stats": "workers stats",
  "workers history": "workers history app --range 1h",
  "workers config": "workers config app --set timeout=20s",
  "workers disable": "workers disable app@1.0.0",
  "workers restart": "workers restart app",
  "workers enable": "workers enable app@1.0.0",
  "workers logs": "workers logs app",
  "workers delete": "workers delete app --yes",
  "hosts add": "hosts add shop.example.org pair",
  "hosts list": "hosts list",
  "hosts remove": "hosts remove shop.example.org --yes",
  "secrets set": "secrets set @team TOKEN --from-file root.key",
  "secrets import": "secrets import @team vars.env",
  "secrets list": "secrets list @team",
  "secrets rotate-key": "secrets rotate-key",
  "secrets remove": "secrets remove @team TOKEN --yes",
  "data list": "data list",
  "data get": "data get store FRESH.zip",
  "data remove": "data remove store --yes",
  "cron list": "cron list store",
  "cron run": "cron run store 0",
  "isolates list": "isolates list store",
  "isolates stop": "isolates stop PID",
  "instances list": "instances list",
  "instances drain": `instances drain ${hostname()} --undo`,
  "plugins upload": "plugins upload guard",
  "plugins list": "plugins list",
  "plugins show": "plugins show guard",
  "plugins loaded": "plugins loaded",
  "plugins config": "plugins config guard --set limit=5",
  "plugins disable": "plugins disable guard",
  "plugins enable": "plugins enable guard",
  "plugins reload": "plugins reload",
  "plugins delete": "plugins delete guard --yes",
  "files ls": "files ls workers",
  "files mkdir": "files mkdir workers/pair/1.1.0/made",
  "files put": "files put app/index.js workers/pair/1.1.0",
  "files mv": "files mv workers/pair/1.1.0/index.js workers/pair/1.1.0/made",
  "files rm": "files rm workers/pair/1.1.0/made --yes",
  "keys create": "keys create --role viewer",
  "keys list": "keys list",
  "keys show": "keys show ID",
  "keys rotate": "keys rotate ID",
  "keys revoke": "keys revoke ID --yes",
  "keys meta": "keys meta",
  audit: "audit",
  "daemon install": "daemon install --user --dry-run",
  "daemon uninstall": "daemon uninstall --user --dry-run",
  api: "api GET workers",
  completion: "completion bash",
  help: "help exit-codes",
  "auth logout": "auth logout --profile spare",
};

/** Commands that run until they are interrupted, or succeed only once. Other files test them. */
const lasting = ["dev", "tui", "events", "files get"];
/** Commands that need systemd, the directories of a daemon, a primary, or a host name that resolves. Other files test them. */
const elsewhere = [
  "daemon backup",
  "daemon migrate-keys",
  "daemon migrate-packages",
  "daemon restore",
  "daemon resync",
  "daemon status",
  "hosts check",
];

test("the test data for --json lists every command of runtimectl", async () => {
  expect([...Object.keys(successes), ...lasting, ...elsewhere].toSorted()).toEqual(
    (await commandTree()).map(({ words }) => words).toSorted(),
  );
});

/** Returns the fields of a document, or of its rows, that `--json=FIELDS` does not accept. */
function undeclaredFields(document: object, fields: readonly string[]): string[] {
  const entries = Object.entries(document);
  const rows = entries.length === 1 && Array.isArray(entries[0]?.[1]) ? (entries[0][1] as object[]) : [document];
  return rows.flatMap((row) => Object.keys(row)).filter((field) => !fields.includes(field));
}

describe("runtimectl with --json", () => {
  test.each(["in a pipe", "with CI set", "on a terminal"])(
    "prints exactly one JSON document for each successful command (run %s)",
    async (where) => {
      let id = 0;
      let pid = 0;
      const commands = new Map((await commandTree()).map(({ words, definition }) => [words, definition]));
      await shell.run(`profile add spare --url ${daemon.url}`);
      await shell.run("workers enable pair@1.1.0");
      // An isolate creates the data folder.
      await fetch(`${daemon.url}/store/`);
      for (const [name, words] of Object.entries(successes)) {
        const line = `${words.replace("PID", String(pid)).replace("ID", String(id)).replace("FRESH", where.replaceAll(" ", "-").toLowerCase())} --json`;
        const run = await shell.run(line, { isTerminal: where === "on a terminal", env: where === "with CI set" ? { CI: "true" } : {} });
        expect(run, `${line}: ${run.stderr}${run.stdout}`).toMatchObject({ status: 0, stderr: "" });
        const document = JSON.parse(run.stdout) as { id?: number; isolates?: { pid: number }[] };
        expect(typeof document).toBe("object");
        const { fields } = commands.get(name) ?? {};
        if (fields) expect(undeclaredFields(document, fields), `fields of ${name}`).toEqual([]);
        pid = document.isolates?.[0]?.pid ?? pid;
        if (words.startsWith("keys create")) id = document.id ?? 0;
      }
    },
    120_000,
  );
});

describe("a runtimectl command that fails with --json", () => {
  test.each<[string, string, number, string]>([
    ["an unknown command", "wrokers", 2, "USAGE"],
    ["an unknown verb", "workers lsit", 2, "USAGE"],
    ["an unknown flag", "workers list --loud", 2, "USAGE"],
    ["a missing argument", "workers enable", 2, "USAGE"],
    ["too many arguments", "workers list all", 2, "USAGE"],
    ["an invalid choice", "keys create --role boss", 2, "USAGE"],
    ["a deletion without confirmation", "workers delete app", 2, "USAGE"],
    ["a prompt without a terminal", "auth login", 2, "USAGE"],
    ["a URL with a path", "status --url http://127.0.0.1:1/cpanel/", 2, "USAGE"],
    ["an unknown profile", "status --profile missing", 2, "USAGE"],
    ["a missing profile", "profile show missing", 6, "PROFILE_NOT_FOUND"],
    ["profile set without settings", "profile set default", 2, "USAGE"],
    ["a missing key file", "status --key-file nowhere", 2, "USAGE"],
    ["an unknown field", "workers list --json=colour", 2, "USAGE"],
    ["two output formats", "workers list --plain", 2, "USAGE"],
    ["an unknown shell", "completion tcsh", 2, "USAGE"],
    ["a header that contains a credential", "api GET workers -H cookie:a=b", 2, "USAGE"],
    ["a doctor report that would overwrite a file", "doctor --bundle root.key", 7, "FILE_EXISTS"],
    ["an invalid duration", "status --timeout soon", 2, "USAGE"],
    ["an unknown worker", "workers delete missing --yes", 6, "WORKER_NOT_FOUND"],
    ["showing an unknown worker", "workers show missing", 6, "WORKER_NOT_FOUND"],
    ["showing an unknown version", "workers show pair@9.9.9", 6, "WORKER_VERSION_NOT_FOUND"],
    ["opening an unknown worker", "workers open missing", 6, "WORKER_NOT_FOUND"],
    ["opening an unknown version", "workers open pair@9.9.9", 6, "WORKER_VERSION_NOT_FOUND"],
    ["rolling back an unknown worker", "workers rollback missing", 6, "WORKER_NOT_FOUND"],
    ["rolling back to an unknown version", "rollback pair --to 9.9.9", 6, "WORKER_VERSION_NOT_FOUND"],
    ["a rollback of a worker with a version", "workers rollback pair@1.0.0", 2, "USAGE"],
    ["a rollback to an invalid version", "workers rollback pair --to next", 2, "USAGE"],
    ["a rollback check with an invalid path", "workers rollback pair --check health", 2, "USAGE"],
    ["a secret of neither a worker nor a namespace", "secrets list Team", 2, "USAGE"],
    ["a secret with an invalid name", "secrets set app A-B", 2, "USAGE"],
    ["a secret value on the command line", "secrets set app TOKEN=value", 2, "USAGE"],
    ["a missing file for the value of a secret", "secrets set app TOKEN --from-file nowhere", 2, "USAGE"],
    ["a staged secret of a namespace", "secrets set @team TOKEN --stage --from-file root.key", 2, "USAGE"],
    ["an import of secrets without variables", "secrets import app app/index.js", 2, "USAGE"],
    ["data of a worker with an invalid name", "data get Store!", 2, "USAGE"],
    ["a data folder that does not exist", "data get missing", 6, "DATA_NOT_FOUND"],
    ["removing a missing data folder", "data remove missing --yes", 6, "DATA_NOT_FOUND"],
    ["a removal of data without confirmation", "data remove store", 2, "USAGE"],
    ["removing an unknown secret", "secrets remove app TOKEN --yes", 6, "SECRET_NOT_FOUND"],
    ["showing an unknown plugin", "plugins show missing", 6, "PLUGIN_NOT_FOUND"],
    ["showing an unknown key", "keys show 4711", 6, "KEY_NOT_FOUND"],
    ["an invalid id", "keys show seven", 2, "USAGE"],
    ["rotating an unknown key", "keys rotate 4711", 6, "KEY_NOT_FOUND"],
    ["an invalid grace period", "keys rotate 4711 --overlap soon", 2, "USAGE"],
    ["a rotation without grace period and without confirmation", "keys rotate 4711 --overlap 0", 2, "USAGE"],
    ["revoking several unknown keys", "keys revoke 4711 4712 --yes", 6, "KEY_NOT_FOUND"],
    ["one invalid id among several", "keys revoke 4711 seven --yes", 2, "USAGE"],
    ["an unknown preset", "keys create --preset boss", 2, "USAGE"],
    ["a preset with a role", "keys create --preset viewer --role admin", 2, "USAGE"],
    ["a preset that needs a namespace", "keys create --preset ci", 2, "USAGE"],
    ["an unknown plugin", "plugins enable missing", 6, "PLUGIN_NOT_FOUND"],
    ["a plugin's name with a version", "plugins disable guard@1.0.0", 2, "USAGE"],
    ["deleting a plugin without confirmation", "plugins delete guard", 2, "USAGE"],
    ["a missing plugin folder", "plugins upload nowhere", 6, "PATH_NOT_FOUND"],
    ["a missing folder", "workers upload nowhere", 6, "PATH_NOT_FOUND"],
    ["a folder without metadata", "workers upload .", 1, "MISSING_PACKAGE_NAME"],
    ["an invalid package", "validate broken", 1, "INVALID_PACKAGE_METADATA"],
    ["a missing package", "validate nowhere", 6, "PATH_NOT_FOUND"],
    ["a file without an archive extension", "deploy root.key", 2, "USAGE"],
    ["deploying an invalid package", "deploy broken", 1, "INVALID_PACKAGE_METADATA"],
    ["packing a missing folder", "pack broken.tgz", 6, "PATH_NOT_FOUND"],
    ["an archive inside the packed folder", "pack app --out app/all.tgz", 2, "USAGE"],
    ["existing files", "init app", 7, "PATH_EXISTS"],
    ["an unknown template", "init new --template rust", 2, "USAGE"],
    ["an invalid deployment check", "deploy app --check /=1", 2, "USAGE"],
    ["a service for one user in another root directory", "daemon install --user --root .", 2, "USAGE"],
    ["an invalid listen address", "daemon install --listen here", 2, "USAGE"],
    ["a missing Node executable", "daemon install --user --node nowhere --dry-run", 2, "USAGE"],
    ["a host check without a listening server", "status --url http://127.0.0.1:1", 8, "UNREACHABLE"],
    ["an unknown host name", "status --url http://nowhere.invalid", 8, "UNREACHABLE"],
  ])("exits with the documented exit code and error code (error: %s)", async (_, words, status, code) => {
    await expectFailure(shell, words, { status, code });
  });

  test("exits with 4 when the daemon rejects the key as unknown", async () => {
    await expectFailure(shell, "workers list", { status: 4, code: "AUTH_REQUIRED", env: key });
  });

  test("exits with 1 when the archive is invalid", async () => {
    await writeTree(shell.home, { "broken.tgz": "not a tar" });
    await expectFailure(shell, "workers upload broken.tgz", { status: 1, code: "INVALID_ARCHIVE" });
  });

  test("exits with 7 for an existing version, 12 for a failed check, 11 after a rollback", async () => {
    await shell.run("deploy app --version 3.0.0");
    await expectFailure(shell, "deploy app --version 3.0.0", { status: 7, code: "VERSION_EXISTS" });
    const check = "--check /=204 --check-timeout 100ms";
    await expectFailure(shell, `deploy app --version 3.0.1 ${check}`, { status: 12, code: "CHECK_FAILED" });
    await expectFailure(shell, `deploy app --version 3.0.2 ${check} --rollback-on-fail`, { status: 11, code: "CHECK_FAILED_ROLLED_BACK" });
    const pending = await shell.run("deploy app --version 3.0.3 --dry-run --exit-code --json");
    expect(pending).toMatchObject({ status: 10, stderr: "" });
    expect(JSON.parse(pending.stdout)).toMatchObject({ action: "install" });
    await shell.run("workers delete app --yes");
  });

  test("exits with 8 when the daemon does not respond before the timeout", async () => {
    const url = await standIn(() => {});
    await expectFailure(shell, `status --url ${url} --timeout 300ms`, { status: 8, code: "TIMEOUT" });
  });

  test("exits with 8 when the daemon closes the connection", async () => {
    const url = await standIn((request) => request.socket.destroy());
    await expectFailure(shell, `status --url ${url}`, { status: 8, code: "UNREACHABLE" });
  });

  test("exits with 1 when another web server uses the daemon's address", async () => {
    const url = await standIn((_request, response) => response.end("<html>"));
    await expectFailure(shell, `status --url ${url}`, { status: 1, code: "UNEXPECTED_ANSWER" });
  });

  test("exits with 8 when a proxy reports that the daemon is unreachable", async () => {
    const url = await standIn((_request, response) => response.writeHead(502).end("Bad Gateway"));
    await expectFailure(shell, `status --url ${url}`, { status: 8, code: "UNEXPECTED_ANSWER" });
  });
});
