import { usageError } from "../command/command-error.js";
import { defineCommand, type Context } from "../command/command.js";
import { chooseAction, planDeployment, prepareDeployable } from "../deploy/prepare-deployment.js";
import { parseDeployOptions, notePackage, noteProject, type DeployOptions, type GivenOptions } from "../deploy/deploy-options.js";
import { DeploymentRun } from "../deploy/deployment-run.js";
import { PluginTarget } from "../deploy/plugin-target.js";
import { WorkerTarget } from "../deploy/worker-target.js";
import { ApiError } from "../../shared/api-error.js";
import { buildProject } from "../detect/build-project.js";
import { saveManifest } from "../detect/save-manifest.js";
import { locatePackage } from "../pack/locate-package.js";
import { openPackage, type OpenedPackage } from "../pack/open-package.js";
import type { PackPlan } from "../pack/pack-plan.js";

/**
 * Maximum number of attempts to assign a version number. An attempt fails if another deployment installs a version with the same number
 * first.
 */
const mostAttempts = 4;

export const command = defineCommand<[source: string], GivenOptions>({
  arguments: [{ syntax: "[path]", description: "A folder or a .tgz, .tar.gz or .zip archive (default: .)", default: "." }],
  options: [
    { flags: "--kind <kind>", description: "Override the package kind that the manifest implies", choices: ["worker", "plugin"] },
    { flags: "--name <name>", description: "Override the name in the manifest" },
    { flags: "--version <version>", description: "Override the version in the manifest" },
    { flags: "--message <text>", description: "Store this message with the deployment" },
    { flags: "--bundle", description: "Bundle a worker's code and its imports into one file, without node_modules" },
    {
      flags: "--external <name>",
      description: "With --bundle: pack this package and its dependencies in node_modules; repeatable",
      repeatable: true,
    },
    { flags: "--dry-run", description: "Show the planned action and every file with its rule; change nothing" },
    { flags: "--exit-code", description: "With --dry-run: exit with 10 if something would change" },
    { flags: "--if-changed", description: "Upload nothing if the version is installed with the same content" },
    { flags: "--build", description: "Run the build script of package.json first; install the dependencies if node_modules is missing" },
    { flags: "--save", description: "Write the detected manifest to manifest.yaml" },
    {
      flags: "--bump",
      description: "For a worker that is installed as latest: assign the next version, unless one is declared, and disable latest",
    },
    { flags: "--replace", description: "Overwrite the version if it exists" },
    { flags: "--no-enable", description: "Install the version disabled; the active version stays the same" },
    { flags: "--check <path[=status]>", description: "After the upload, request this path and expect this status (default: 200 to 399)" },
    { flags: "--no-check", description: "Skip the load test of the code before the version is served" },
    { flags: "--check-timeout <duration>", description: "Repeat a failing --check for up to this time (default: 30s)" },
    {
      flags: "--rollback-on-fail",
      description: "If the check fails, disable the new version, so that the previous version is active again",
    },
    { flags: "--keep <count>", description: "After the deployment, keep N uploaded versions and delete the oldest" },
  ],
  fields: [
    "kind",
    "name",
    "version",
    "action",
    "enabled",
    "url",
    "before",
    "digest",
    "sizeBytes",
    "check",
    "deleted",
    "undo",
    "dryRun",
    "automaticHost",
    "automaticHostReason",
    "hosts",
    "requestedHosts",
  ],
  examples: [
    ["runtimectl deploy", "pack this folder, upload it and print its URL"],
    ["runtimectl deploy ./dir --check /health --rollback-on-fail", "roll back if /health fails"],
    ['runtimectl deploy --if-changed --message "$CI_COMMIT"', "in CI: skip an unchanged package"],
    ["runtimectl deploy --dry-run --exit-code", "exit with 10 if something would change"],
    ["runtimectl deploy --no-enable", "install only; to serve it: runtimectl workers enable NAME@VERSION"],
  ],
  notes:
    "How the package kind is detected: runtimectl validate --help. Which files are packed: runtimectl pack --help.\n" +
    "Without --replace, an existing version is never overwritten. Only one version of a plugin is installed: a new version replaces it.\n" +
    "The manifest records the content digest, the commit and its dirty state, the message, the time and git's user.name; lists show them.\n" +
    "The daemon loads a worker's code once before it serves the version. If the code cannot be loaded, the upload is rejected and nothing changes.\n" +
    "--check sends no key. If the check fails, the exit code is 12, or 11 after a rollback.\n" +
    "--keep never deletes the active version or the new version. On a production profile, --replace and --keep require --confirm.",
  async run(context, [given], written) {
    const options = parseDeployOptions(written);
    const located = await locatePackage(context, given);
    if (options.isDryRun && (written.build || written.save))
      throw usageError("--dry-run cannot be used with --build or --save, which change the folder");
    if (written.build && !located.isFolder) throw usageError("--build cannot be used with an archive");
    if (located.isFolder && written.kind !== "plugin") await buildProject(context, located.path, written.build ?? false);
    const opened = await openPackage(context, given, written.kind);
    if (options.keep !== undefined && opened.kind === "plugin")
      throw usageError("--keep cannot be used with a plugin, because only one version of a plugin is installed");
    if (written.save) await saveManifest(context, opened);
    noteProject(context, opened);
    const plan = await planDeployment(context, opened, options);
    for (let attempt = 1; ; attempt += 1) {
      const deployment = await planRun(context, { opened, plan, options });
      if (options.isDryRun) return deployment.show();
      try {
        await deployment.perform();
        return undefined;
      } catch (error) {
        const isTaken = deployment.hasAssignedVersion && error instanceof ApiError && error.code === "VERSION_EXISTS";
        if (!isTaken || attempt === mostAttempts) throw error;
        context.output.note("another deployment installed this version; assigning the next one");
      }
    }
  },
});

/** Chooses the version and the action of the deployment from the installed versions, and prints the package. */
async function planRun(
  context: Context,
  { opened, plan, options }: { opened: OpenedPackage; plan: PackPlan; options: DeployOptions },
): Promise<DeploymentRun> {
  const target =
    opened.kind === "worker" ? await WorkerTarget.open(context, plan.facts, options) : await PluginTarget.open(context, plan.facts);
  const deployable = await prepareDeployable(opened, plan, { target, options });
  if (deployable.isOff && options.check) throw usageError("--check needs an enabled version, but the manifest has enabled: false");
  const action = chooseAction(target, deployable, options);
  const served = action === "none" ? target.forInstalledVersion() : target;
  const shown = { ...deployable.plan, facts: { ...deployable.plan.facts, version: served.version } };
  notePackage(context, shown, { kind: opened.kind, settings: target.connection.settings });
  const isOff = action === "none" ? served.existing?.isEnabled === false : deployable.isOff;
  return new DeploymentRun(context, { opened, options, deployable: { ...deployable, plan: shown, isOff }, target: served, action });
}
