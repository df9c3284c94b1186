import { Icon } from "../components/icon.js";
import { Popover } from "../components/popover.js";
import { EndTime } from "../components/absolute-time.js";
import { usePrincipal } from "../session/use-principal.js";
import { SignOutButton } from "./sign-out-button.js";
import { ThemeSwitch } from "./theme-switch.js";

/**
 * Button with the name of the signed-in key. Opens a menu with the role, namespaces and expiry of the key, the theme and the sign-out
 * button.
 */
export function AccountMenu() {
  const { name, role, namespaces, expiresAt } = usePrincipal();
  return (
    <Popover
      label={`Account ${name}`}
      button={
        <>
          <Icon name="account" />
          <span className="account-text">{name}</span>
        </>
      }
    >
      <div className="account-facts">
        <p className="account-name">{name}</p>
        <p className="quiet small">
          {role}
          {!namespaces.includes("*") && ` · ${namespaces.join(", ")} only`}
        </p>
        <p className="quiet small">
          {expiresAt === undefined ? (
            "The key has no end"
          ) : (
            <>
              The key ends on <EndTime at={expiresAt} />
            </>
          )}
        </p>
      </div>
      <ThemeSwitch />
      <SignOutButton />
    </Popover>
  );
}
