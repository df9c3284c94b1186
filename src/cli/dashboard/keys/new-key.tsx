import { Box } from "ink";
import type { Principal } from "../../../shared/contract/principal.js";
import { useKeyForm, endOfLifetime, type KeyForm } from "./key-form.js";
import { useKeyScope } from "../keyboard/key-dispatcher.js";
import { useQuery } from "../queries/hooks.js";
import type { Session } from "../session/session.js";
import { PromptLine } from "../components/prompt-line.js";
import { SafeText } from "../components/safe-text.js";
import { useState } from "react";
import { useSize } from "../terminal/terminal-size.js";
import type { Permission } from "../../../shared/permissions.js";

const labelWidth = 11;

const nounWidth = 10;

interface NewKeyProps {
  readonly session: Session;
  readonly onClose: () => void;
}

/** Shows the form for a new API key. Offers only permissions that the current API key has. */
export function NewKey({ session, onClose }: NewKeyProps) {
  const principal = useQuery("session", (client) => client.session.show()).value?.principal;
  return principal ? <Fields {...{ session, principal, onClose }} /> : <SafeText>loading…</SafeText>;
}

function Fields({ session, principal, onClose }: NewKeyProps & { readonly principal: Principal }) {
  const form = useKeyForm(session, principal);
  const { draft, field, change, isBusy, message } = form;
  const takeKey = (key: string) => {
    if (form.onKey(key)) return;
    if (key === "enter") form.onSubmit();
    else if (key === "esc") onClose();
  };
  return (
    <Box flexDirection="column" paddingX={1}>
      <SafeText bold>New key (space/arrows: select, enter: next or create)</SafeText>
      <TextField name="name" label="name" {...{ form, onClose }} />
      <ChoiceLine
        label={"role".padEnd(labelWidth)}
        choices={form.grantableRoles}
        chosen={draft.role}
        isActive={field === "role" && !isBusy}
        onChoose={(role) => change({ role })}
        onKey={takeKey}
      />
      {draft.role === "custom" && (
        <PermissionGrid
          permissions={principal.permissions}
          chosen={draft.permissions}
          isActive={field === "permissions" && !isBusy}
          onChoose={(permissions) => change({ permissions })}
          onKey={takeKey}
        />
      )}
      <TextField name="namespaces" label="namespaces" {...{ form, onClose }} />
      <TextField
        name="lifetime"
        label={`lifetime (${endOfLifetime(draft.lifetime) ?? "12h, 30d, 2w, 6m, 1y, never"})`}
        {...{ form, onClose }}
      />
      {isBusy ? (
        <Creating />
      ) : (
        <SafeText color="yellow" wrap="wrap">
          {message ?? " "}
        </SafeText>
      )}
    </Box>
  );
}

interface TextFieldProps {
  readonly name: "name" | "namespaces" | "lifetime";
  readonly label: string;
  readonly form: KeyForm;
  readonly onClose: () => void;
}

function TextField({ name, label, form, onClose }: TextFieldProps) {
  const padded = label.padEnd(labelWidth);
  if (form.field !== name || form.isBusy) return <SafeText>{`${padded} ${form.draft[name]}`}</SafeText>;
  return (
    <PromptLine
      label={padded}
      initial={form.draft[name]}
      onChange={(text) => form.change({ [name]: text })}
      onSubmit={form.onSubmit}
      onCancel={onClose}
      onKey={form.onKey}
    />
  );
}

/**
 * Ignores all key presses while the daemon creates the API key. Otherwise the user could close the form before it shows the new API key.
 */
function Creating() {
  useKeyScope({ handlers: {}, isModal: true, takeKey: () => true });
  return <SafeText>creating the key …</SafeText>;
}

interface PermissionGridProps {
  readonly permissions: readonly Permission[];
  readonly chosen: readonly Permission[];
  readonly isActive: boolean;
  readonly onChoose: (chosen: readonly Permission[]) => void;
  /** Callback for each key press that the component does not handle itself. */
  readonly onKey: (key: string) => void;
}

/** Shows a checkbox per permission. The arrow keys move the cursor in the order of the checkboxes, and space selects or clears a permission. */
function PermissionGrid({ permissions, chosen, isActive, onChoose, onKey }: PermissionGridProps) {
  const { columns } = useSize();
  const [cursor, setCursor] = useState(0);
  const lines = permissionLines(permissions, columns - 2);
  const ordered = lines.flat().map(({ permission }) => permission);
  const current = ordered[cursor];
  const takeKey = (key: string): boolean => {
    if (key === "right") setCursor((cursor + 1) % ordered.length);
    else if (key === "left") setCursor((cursor + ordered.length - 1) % ordered.length);
    else if (key === "space" && current)
      onChoose(permissions.filter((permission) => chosen.includes(permission) !== (permission === current)));
    else onKey(key);
    return true;
  };
  useKeyScope(isActive ? { handlers: {}, isModal: true, takeKey } : { handlers: {} });
  return (
    <Box flexDirection="column" flexShrink={0}>
      {lines.map((line) => (
        <Box key={line[0]?.permission} height={1} columnGap={1}>
          {line.map(({ permission, noun, verb }) => (
            <Box key={permission} columnGap={1}>
              {noun !== undefined && <SafeText bold={isActive}>{noun}</SafeText>}
              <SafeText inverse={isActive && permission === current}>{`[${chosen.includes(permission) ? "x" : " "}] ${verb}`}</SafeText>
            </Box>
          ))}
        </Box>
      ))}
    </Box>
  );
}

interface PermissionCell {
  readonly permission: Permission;
  /** The resource, padded to the width of the first column. Undefined for a further permission of the resource on the same line. */
  readonly noun: string | undefined;
  readonly verb: string;
}

/**
 * Returns the lines of checkboxes, none wider than `columns`. Each resource begins a line. Resources with only one permission share lines,
 * because the form must fit in 15 rows.
 */
function permissionLines(permissions: readonly Permission[], columns: number): PermissionCell[][] {
  const groups = [...Map.groupBy(permissions, (permission) => nounOf(permission)).values()];
  const singles = groups.filter((group) => group.length === 1).flat();
  return [...groups.filter((group) => group.length > 1), singles].flatMap((group) => brokenLines(group, columns));
}

/** Returns the checkboxes of one group. Begins another line where the next checkbox does not fit. */
function brokenLines(group: readonly Permission[], columns: number): PermissionCell[][] {
  const lines: PermissionCell[][] = [];
  let [room, previous] = [0, ""];
  for (const permission of group) {
    const noun = nounOf(permission);
    const verb = permission.slice(noun.length + 1);
    const cell = { permission, noun: noun === previous ? undefined : `  ${noun}`.padEnd(nounWidth), verb };
    const width = cellWidth(cell);
    if (width <= room) lines.at(-1)?.push(cell);
    else {
      const first = { ...cell, noun: cell.noun ?? " ".repeat(nounWidth) };
      lines.push([first]);
      room = columns - cellWidth(first) + width;
    }
    room -= width;
    previous = noun;
  }
  return lines;
}

/** Returns the width of a checkbox with its labels and the gap after it. */
function cellWidth({ noun, verb }: PermissionCell): number {
  return (noun === undefined ? 0 : noun.length + 1) + "[ ] ".length + verb.length + 1;
}

function nounOf(permission: Permission): string {
  return permission.slice(0, permission.indexOf(":"));
}

interface ChoiceLineProps<Choice extends string> {
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly chosen: Choice;
  readonly isActive: boolean;
  readonly onChoose: (choice: Choice) => void;
  /** Callback for each key press that the component does not handle itself. */
  readonly onKey: (key: string) => void;
}

/** Shows a field with several options, of which one is selected. The arrow keys and space select another option. */
function ChoiceLine<Choice extends string>({ label, choices, chosen, isActive, onChoose, onKey }: ChoiceLineProps<Choice>) {
  const takeKey = (key: string): boolean => {
    const step = key === "right" || key === "space" ? 1 : key === "left" ? -1 : 0;
    const next = choices[(choices.indexOf(chosen) + step + choices.length) % choices.length];
    if (step !== 0 && next !== undefined) onChoose(next);
    else onKey(key);
    return true;
  };
  useKeyScope(isActive ? { handlers: {}, isModal: true, takeKey } : { handlers: {} });
  return (
    <Box height={1} flexShrink={0} columnGap={1}>
      <SafeText bold={isActive}>{label}</SafeText>
      {choices.map((choice) => (
        <SafeText key={choice} inverse={isActive && choice === chosen}>
          {choice === chosen ? `(${choice})` : ` ${choice} `}
        </SafeText>
      ))}
    </Box>
  );
}
