import { Input } from "react-aria-components/Input";
import { useDeferredValue, useEffect, useId, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { Icon } from "../components/icon.js";
import { Modal } from "../components/modal.js";
import { StateDot } from "../components/state-dot.js";
import { matchCommands, type Command } from "./command.js";
import { useCommandActions, type CommandActions } from "./use-command-actions.js";
import { useCommands } from "./use-commands.js";
import "./command-menu.css";

interface CommandMenuProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** Callback that receives the error of a failed command. The command runs after the menu closes. */
  readonly onError: (error: unknown) => void;
}

/** The command menu. Stays mounted while it is closed, because its actions run after the menu closes. */
export function CommandMenu({ isOpen, onClose, onError }: CommandMenuProps) {
  const actions = useCommandActions(onError);
  return (
    <>
      {isOpen && <OpenMenu actions={actions} onClose={onClose} onError={onError} />}
      {actions.apps.dialog}
      {actions.instances.dialog}
    </>
  );
}

/**
 * Dialog with a search field and the pages, apps, plugins and actions that match the search text. The arrow keys select an entry, and Enter
 * runs it.
 */
function OpenMenu({ actions, onClose, onError }: Omit<CommandMenuProps, "isOpen"> & { readonly actions: CommandActions }) {
  const commands = useCommands(actions);
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState(0);
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  const wanted = useDeferredValue(typed);
  const found = useMemo(() => commandsFor(commands, wanted), [commands, wanted]);
  const current = Math.min(chosen, found.length - 1);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [current, found]);
  const run = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    Promise.resolve()
      .then(() => command.run())
      .catch(onError);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Partial<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
    const step = steps[event.key];
    // React defers the update of the list. If the list still shows the matches of an earlier text, Enter runs the best match of the current
    // text.
    if (event.key === "Enter") run(wanted === typed ? found[current] : commandsFor(commands, typed)[0]);
    else if (step === undefined || found.length === 0) return;
    else if (Math.abs(step) === 1) setChosen((current + step + found.length) % found.length);
    else setChosen(Math.min(Math.max(current + step, 0), found.length - 1));
    event.preventDefault();
  };
  return (
    <Modal title="Command menu" onClose={onClose} look="menu">
      <div className="command-search">
        <Icon name="search" />
        <Input
          autoFocus
          type="text"
          role="combobox"
          aria-label="Go to app, run action"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={found.length > 0 ? `${id}-${current}` : undefined}
          aria-autocomplete="list"
          autoComplete="off"
          spellCheck={false}
          placeholder="Go to app, run action"
          value={typed}
          onChange={({ target }) => {
            setTyped(target.value);
            setChosen(0);
          }}
          onKeyDown={onKeyDown}
        />
        <kbd aria-hidden="true">Esc</kbd>
      </div>
      <ul ref={list} id={`${id}-list`} role="listbox" aria-label="Commands" className="command-list">
        {found.map((command, index) => (
          <li
            key={command.id}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === current}
            className={found[index - 1]?.group === command.group ? "command" : "command command-first"}
            onMouseMove={() => setChosen(index)}
            onClick={() => run(command)}
          >
            <Icon name={command.icon} />
            <span className="command-title">{command.title}</span>
            {command.state !== undefined && <StateDot state={command.state} />}
            <span className="command-group small">{command.group}</span>
          </li>
        ))}
      </ul>
      <p role="status" className={found.length === 0 ? "command-none quiet" : "visually-hidden"}>
        {found.length === 0 ? "Nothing matches." : `${found.length} entries`}
      </p>
    </Modal>
  );
}

/** Returns the commands that match the text, the best match first. Without text, returns all commands, sorted by their group. */
function commandsFor(commands: readonly Command[], text: string): readonly Command[] {
  const found = matchCommands(commands, text);
  if (text !== "") return found;
  const groups = ["Pages", "Apps", "Plugins", "Instances", "Actions"];
  return found.toSorted((one, other) => groups.indexOf(one.group) - groups.indexOf(other.group));
}
