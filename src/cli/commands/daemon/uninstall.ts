import path from "node:path";
import { defineCommand } from "../../command/command.js";
import { runSteps, chosenMode, serviceOptions, type ServiceOptions } from "../../systemd/run-steps.js";
import { call, remove } from "../../systemd/service-step.js";
import { Systemctl } from "../../systemd/systemctl.js";
import { serviceUnit, socketUnit } from "../../systemd/unit-files.js";

interface Options extends ServiceOptions {
  readonly purge?: boolean;
}

export const command = defineCommand<[], Options>({
  options: [...serviceOptions, { flags: "--purge", description: "Also delete keys, workers, plugins and the root key" }],
  fields: ["mode", "dryRun", "changed", "steps", "kept"],
  examples: [
    ["sudo runtimectl daemon uninstall", "remove the service and keep its data"],
    ["runtimectl daemon uninstall --user --dry-run", "show what would be deleted"],
    ["sudo runtimectl daemon uninstall --purge", "delete the service and its data, after you type its name"],
  ],
  notes: "Without --purge, a later install uses the same keys, workers and plugins. --purge cannot be undone.",
  async run(context, _values, options) {
    const mode = chosenMode(context, options);
    const systemctl = new Systemctl(mode, context.variables);
    const units = await Promise.all([serviceUnit, socketUnit].map((unit) => remove(path.join(mode.unitDirectory, unit))));
    const isThere = units.some(({ isNeeded }) => isNeeded);
    const kept = [...mode.stateDirectories, path.dirname(mode.rootKeyFile)];
    const disable = options.root === undefined ? ["disable", "--now"] : ["disable"];
    await runSteps(context, {
      mode,
      options,
      steps: [
        call(systemctl, [...disable, serviceUnit, socketUnit], isThere),
        ...units,
        ...(options.root === undefined ? [call(systemctl, ["daemon-reload"], isThere)] : []),
        ...(options.purge ? await Promise.all(kept.map(remove)) : []),
      ],
      consequence: options.purge
        ? `Delete the ${mode.name} service runtimed with all of its keys, workers and plugins`
        : `Remove the ${mode.name} service runtimed`,
      ...(options.purge && { typedName: "runtimed" }),
      facts: { kept: options.purge ? [] : kept },
    });
  },
});
