import { ActionMenu, type MenuEntry } from "./action-menu.js";
import { Button } from "./button.js";
import "./row-actions.css";

/** One action on the item of a row. */
export type RowAction = Extract<MenuEntry, { readonly run: () => void } | { readonly download: string }>;

interface RowActionsProps {
  /** Name of the item. Labels for screen readers contain it, as in `Delete index.html`. */
  readonly name: string;
  readonly actions: readonly RowAction[];
}

/** The actions of a table's row: buttons beside each other, or a menu on pages below 720 px. */
export function RowActions({ name, actions }: RowActionsProps) {
  if (actions.length === 0) return null;
  return (
    <>
      <span className="row-actions">
        {actions.map((action) => (
          <RowButton key={action.title} name={name} action={action} />
        ))}
      </span>
      <span className="row-menu">
        <ActionMenu label={`Actions of ${name}`} entries={actions} />
      </span>
    </>
  );
}

function RowButton({ name, action }: { name: string; action: RowAction }) {
  const label = `${action.title} ${name}`;
  if ("download" in action)
    return (
      <a className="row-link" href={action.download} download aria-label={label}>
        {action.title}
      </a>
    );
  return (
    <Button kind="bare" aria-label={label} isPending={action.isPending ?? false} onPress={action.run}>
      {action.title}
    </Button>
  );
}
