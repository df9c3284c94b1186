import { usageError } from "../command/command-error.js";
import { defineCommand } from "../command/command.js";
import { chooseAction, prepareDeployable } from "../deploy/prepare-deployment.js";
import { parseDeployOptions, notePackage, type GivenOptions } from "../deploy/deploy-options.js";
import { DeploymentRun } from "../deploy/deployment-run.js";
import { PluginTarget } from "../deploy/plugin-target.js";
import { WorkerTarget } from "../deploy/worker-target.js";
import { openPackage } from "../pack/open-package.js";

export const command = defineCommand<[source: string], GivenOptions>({
  arguments: [{ syntax: "[path]", description: "A folder, or a .tgz, .tar.gz or .zip that is ready (default: .)", default: "." }],
  options: [
    { flags: "--kind <kind>", description: "What it is, when its manifest does not tell", choices: ["worker", "plugin"] },
    { flags: "--name <name>", description: "Deploy it under this name, whatever its manifest says" },
    { flags: "--version <version>", description: "Deploy it as this version, whatever its manifest says" },
    { flags: "--message <text>", description: "Note this with the deployment" },
    { flags: "--bundle", description: "Make one file of a worker's code and what it imports, and leave node_modules out" },
    { flags: "--dry-run", description: "Show what would be done and every file with its rule; change nothing" },
    { flags: "--exit-code", description: "With --dry-run: end with 10 when something would change" },
    { flags: "--if-changed", description: "Send nothing when the same content is there as the same version" },
    { flags: "--replace", description: "Overwrite this version when it is there already" },
    { flags: "--no-enable", description: "Install it switched off; what is served stays the same" },
    { flags: "--check <path[=status]>", description: "Below its URL, this must answer with that status (default: 200 to 399)" },
    { flags: "--no-check", description: "Do not have the code loaded once before it is served" },
    { flags: "--check-timeout <duration>", description: "How long to go on asking (default: 30s)" },
    { flags: "--rollback-on-fail", description: "When the check fails, switch the new version off, so that the one before answers" },
    { flags: "--keep <count>", description: "Afterwards delete the oldest uploaded versions, all but so many" },
  ],
  fields: ["kind", "name", "version", "action", "enabled", "url", "before", "digest", "sizeBytes", "check", "deleted", "undo", "dryRun"],
  examples: [
    ["runtimectl deploy", "pack this folder, upload it, print its URL"],
    ["runtimectl deploy ./dir --check /health --rollback-on-fail", "be sure that it answers, or as before"],
    ['runtimectl deploy --if-changed --message "$CI_COMMIT"', "in CI: the same content is sent once"],
    ["runtimectl deploy --dry-run --exit-code", "would something change? 10 = yes"],
    ["runtimectl deploy --no-enable", "put it there; runtimectl workers enable NAME@VERSION serves it"],
  ],
  notes:
    "A plugin is told from a worker by its manifest, see runtimectl validate --help. What is packed: see runtimectl workers upload --help.\n" +
    "A version that is there is never overwritten without --replace; a plugin has one version at a time, and a new one takes its place.\n" +
    "The digest of the content, the commit, whether it was dirty, the message, the time and git's user.name go along in the manifest and are shown in lists.\n" +
    "The daemon loads a worker's code once before it is served; code that cannot be loaded is refused, and nothing changes.\n" +
    "--check asks without a key. A check that fails ends with 12, or with 11 when the deployment was rolled back.\n" +
    "--keep never deletes the version that answers, nor the one just deployed. On a production profile --replace and --keep need --confirm.",
  async run(context, [given], written) {
    const options = parseDeployOptions(written);
    const opened = await openPackage(context, given, written.kind);
    if (options.keep !== undefined && opened.kind === "plugin")
      throw usageError("--keep is for workers: a plugin has one version at a time");
    const deployable = await prepareDeployable(context, opened, options);
    if (deployable.isOff && options.check) throw usageError("the manifest says enabled: false, so there is nothing that --check could ask");
    const { facts } = deployable.plan;
    const target = opened.kind === "worker" ? await WorkerTarget.open(context, facts) : await PluginTarget.open(context, facts);
    const action = chooseAction(target, deployable, options);
    notePackage(context, deployable.plan, { kind: opened.kind, settings: target.connection.settings });
    const deployment = new DeploymentRun(context, { opened, options, deployable, target, action });
    return options.isDryRun ? deployment.show() : deployment.perform();
  },
});
