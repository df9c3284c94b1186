import { defineCommand } from "../command/command.js";
import { completionScripts, shells, type Shell } from "../completion/scripts.js";

export const command = defineCommand<[shell: Shell]>({
  arguments: [{ syntax: "<shell>", description: shells.join(", "), choices: shells }],
  fields: ["shell", "script"],
  examples: [
    ["source <(runtimectl completion bash)", "in ~/.bashrc"],
    ["source <(runtimectl completion zsh)", "in ~/.zshrc, after compinit"],
    ["runtimectl completion fish > ~/.config/fish/completions/runtimectl.fish", "once"],
  ],
  notes:
    "Completes commands, flags and their choices, fields of --json=, profiles, and what is installed: workers, versions, plugins, ids of keys.\n" +
    "For the latter it asks the daemon, for at most 300 ms; where that fails it suggests nothing, and says nothing.",
  async run(context, [shell]) {
    const script = completionScripts[shell];
    context.output.result({ shell, script }, script.trimEnd());
  },
});
