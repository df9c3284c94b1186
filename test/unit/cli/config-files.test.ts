import { chmod, readFile, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { ConfigFile } from "../../../src/cli/config/config-file.js";
import { CredentialsFile } from "../../../src/cli/config/credentials-file.js";
import { readProfiles } from "../../../src/cli/config/read-profiles.js";
import { findProject } from "../../../src/cli/config/project-file.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { writeTree } from "../../support/write-tree.js";

test("a change of a config file keeps comments, order and unknown settings", async () => {
  const directory = await temporaryDirectory();
  const text =
    "# mine\ncurrent: home\nprofiles:\n  # the small one\n  home: { url: http://a, color: red } # do not touch\n  other:\n    url: http://b\nui: { colour: x }\n";
  await writeFile(path.join(directory, "config.yaml"), text);
  const config = ConfigFile.open(directory);
  config.setProfile("prod", { url: "https://c", production: true });
  config.setProfile("other", { url: "http://d" });
  config.setCurrent("prod");
  await config.save();
  expect(await readFile(config.file, "utf8")).toBe(
    "# mine\ncurrent: prod\nprofiles:\n  # the small one\n  home: { url: http://a, color: red } # do not touch\n  other:\n    url: http://d\n  prod:\n    url: https://c\n    production: true\nui: { colour: x }\n",
  );
});

test.each(["profiles: [a]\n", "profiles: { home: { url: 7 } }\n", "a: [\n"])(
  "runtimectl rejects a config file with the invalid content %j",
  async (text) => {
    const directory = await temporaryDirectory();
    await writeFile(path.join(directory, "config.yaml"), text);
    expect(() => ConfigFile.open(directory)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID", exitCode: 2 }) as Error);
  },
);

test("the profiles are read from the config file, and are empty without a file", async () => {
  const directory = await temporaryDirectory();
  expect(await readProfiles(directory)).toEqual({ current: undefined, profiles: new Map() });
  const config = ConfigFile.open(directory);
  config.setProfile("home", { url: "http://127.0.0.1:8000" });
  await config.save();
  expect((await readProfiles(directory)).profiles).toEqual(new Map([["home", { url: "http://127.0.0.1:8000" }]]));
});

test("the credentials file is created so that only its owner can read the file", async () => {
  const directory = path.join(await temporaryDirectory(), "new");
  const credentials = CredentialsFile.open(directory);
  credentials.set("home", { origin: "http://a", key: "secret" });
  await credentials.save();
  expect((await stat(credentials.file)).mode & 0o777).toBe(0o600);
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  expect(CredentialsFile.open(directory).get("home")).toEqual({ origin: "http://a", key: "secret" });
});

test.each([0o644, 0o640, 0o660, 0o604])("runtimectl rejects a credentials file with the file mode %o", async (mode) => {
  const directory = await temporaryDirectory();
  const file = path.join(directory, "credentials.json");
  await writeFile(file, '{"profiles":{}}');
  await chmod(file, mode);
  expect(() => CredentialsFile.open(directory)).toThrow(expect.objectContaining({ code: "CREDENTIALS_UNSAFE", exitCode: 4 }) as Error);
});

test("runtimectl rejects a credentials file that is a symbolic link", async () => {
  const directory = await temporaryDirectory();
  await writeFile(path.join(directory, "elsewhere"), '{"profiles":{}}', { mode: 0o600 });
  await symlink("elsewhere", path.join(directory, "credentials.json"));
  expect(() => CredentialsFile.open(directory)).toThrow(expect.objectContaining({ code: "CREDENTIALS_UNSAFE" }) as Error);
});

test("runtimectl finds a project file in parent folders up to the repository root", async () => {
  const directory = await temporaryDirectory();
  await writeTree(directory, { ".runtimectl.yaml": "profile: outer\n", "repo/.git/HEAD": "", "repo/a/b/c": "", "plain/d/e": "" });
  expect(await findProject(path.join(directory, "repo/a/b"), directory)).toBeUndefined();
  expect(await findProject(path.join(directory, "plain/d"), path.dirname(directory))).toMatchObject({ profile: "outer" });
  await writeTree(directory, { "repo/.runtimectl.yaml": "profile: inner\nkind: worker\n" });
  expect(await findProject(path.join(directory, "repo/a/b"), directory)).toMatchObject({ profile: "inner" });
});

test.each(["url", "key", "keyFile", "cacert", "insecure"])("runtimectl rejects a project file that sets the key %s", async (name) => {
  const directory = await temporaryDirectory();
  await writeTree(directory, { ".runtimectl.yaml": `profile: a\n${name}: b\n` });
  await expect(findProject(directory, directory)).rejects.toThrow(
    expect.objectContaining({ exitCode: 2, message: expect.stringContaining(name) as string }) as Error,
  );
});
