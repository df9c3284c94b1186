/**
 * The completion script for each shell. A script runs `runtimectl __complete SHELL WORD...`. The last word is the word that the user is
 * typing.
 */
export const completionScripts = {
  bash: `# runtimectl completion for bash. Put into ~/.bashrc:  source <(runtimectl completion bash)
_runtimectl() {
  local line=\${COMP_LINE:0:COMP_POINT} words current kept= breaks=\${COMP_WORDBREAKS//[^@=:]/} candidate
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current=\${words[\${#words[@]}-1]}
  # Readline starts a word after the last of these characters, or at the character if it is an @, and expects only that word.
  [[ -n $breaks ]] && kept=\${current%"\${current##*["$breaks"]}"} kept=\${kept%@}
  COMPREPLY=()
  compopt +o default 2>/dev/null
  while IFS= read -r candidate; do
    if [[ $candidate == :files ]]; then compopt -o default 2>/dev/null; continue; fi
    COMPREPLY+=("\${candidate#"$kept"}")
  done < <(runtimectl __complete bash "\${words[@]:1}" 2>/dev/null </dev/null)
}
complete -o default -F _runtimectl runtimectl
`,
  zsh: `#compdef runtimectl
# runtimectl completion for zsh. Put into ~/.zshrc, after compinit:  source <(runtimectl completion zsh)
_runtimectl() {
  local line
  local -a candidates
  for line in "\${(@f)$(runtimectl __complete zsh "\${(@)words[2,CURRENT]}" 2>/dev/null </dev/null)}"; do
    if [[ $line == :files ]]; then _files; return; fi
    line=\${line//:/\\\\:}
    [[ -n $line ]] && candidates+=("\${line/$'\\t'/:}")
  done
  _describe -V runtimectl candidates
}
compdef _runtimectl runtimectl
`,
  fish: `# runtimectl completion for fish. Put into ~/.config/fish/completions/runtimectl.fish
function __runtimectl_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in (runtimectl __complete fish $words[2..-1] 2>/dev/null </dev/null)
        if test "$line" = ":files"
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c runtimectl -f -a '(__runtimectl_complete)'
`,
} as const;

export type Shell = keyof typeof completionScripts;
export const shells = Object.keys(completionScripts) as Shell[];
