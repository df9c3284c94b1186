import { Icon, type IconName } from "./icon.js";
import { PanelLink } from "../router/panel-link.js";
import { Popover } from "./popover.js";
import "./action-menu.css";

/** One entry of a menu: a link to a page of the panel, a link to another page, or an action. */
export type MenuEntry = {
  readonly title: string;
  readonly icon: IconName;
  /** Whether the action deletes something. */
  readonly isDanger?: boolean;
  /** Whether the action runs. The entry ignores presses meanwhile. */
  readonly isPending?: boolean;
} & (
  | { readonly to: string }
  | { readonly href: string }
  /** URL of a file that the entry downloads. */
  | { readonly download: string }
  | { readonly run: () => void }
);

/** A button with three dots that shows the entries below it. The menu closes when the user selects an entry. */
export function ActionMenu({ label, entries }: { label: string; entries: readonly MenuEntry[] }) {
  return (
    <Popover label={label} button={<Icon name="more" />} closesOnClick>
      <ul className="action-menu">
        {entries.map((entry) => (
          <li key={entry.title}>
            <Entry {...entry} />
          </li>
        ))}
      </ul>
    </Popover>
  );
}

function Entry(entry: MenuEntry) {
  const className = entry.isDanger === true ? "action-menu-entry action-menu-danger" : "action-menu-entry";
  const content = (
    <>
      <Icon name={entry.icon} /> {entry.title}
    </>
  );
  if ("to" in entry)
    return (
      <PanelLink to={entry.to} className={className}>
        {content}
      </PanelLink>
    );
  if ("href" in entry)
    return (
      <a href={entry.href} target="_blank" rel="noreferrer" className={className}>
        {content}
      </a>
    );
  if ("download" in entry)
    return (
      <a href={entry.download} download className={className}>
        {content}
      </a>
    );
  return (
    <button type="button" className={className} aria-disabled={entry.isPending} onClick={() => !entry.isPending && entry.run()}>
      {content}
    </button>
  );
}
