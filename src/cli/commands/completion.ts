import { defineCommand } from "../command/command.js";
import { completionScripts, shells, type Shell } from "../completion/scripts.js";

export const command = defineCommand<[shell: Shell]>({
  arguments: [{ syntax: "<shell>", description: shells.join(", "), choices: shells }],
  fields: ["shell", "script"],
  examples: [
    ["source <(runtimectl completion bash)", "add this line to ~/.bashrc"],
    ["source <(runtimectl completion zsh)", "add this line to ~/.zshrc after compinit"],
    ["runtimectl completion fish > ~/.config/fish/completions/runtimectl.fish", "run this command once"],
  ],
  notes:
    "Completes commands, flags, values, fields of --json=, profiles, and installed workers, versions, plugins and key ids.\n" +
    "Installed names come from the daemon, within at most 300 ms. If the daemon does not respond, they are not suggested.",
  async run(context, [shell]) {
    const script = completionScripts[shell];
    context.output.result({ shell, script }, script.trimEnd());
  },
});
