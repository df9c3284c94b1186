import { AccountMenu } from "./account-menu.js";
import { Breadcrumb } from "./breadcrumb.js";
import { CommandField } from "./command-field.js";
import { ConnectionDot } from "./connection-dot.js";
import "./top-bar.css";

/** Bar above every page, with the breadcrumb, the command menu, the state of the connection and the account. */
export function TopBar() {
  return (
    <section aria-label="Panel header" className="top-bar">
      <Breadcrumb />
      <CommandField />
      <ConnectionDot />
      <AccountMenu />
    </section>
  );
}
