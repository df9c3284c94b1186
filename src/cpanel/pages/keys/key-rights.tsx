import { CheckboxGroup } from "react-aria-components/CheckboxGroup";
import { FieldError } from "react-aria-components/FieldError";
import { Label } from "react-aria-components/Label";
import type { CallOutput } from "../../../shared/contract/endpoint.js";
import type * as keys from "../../../shared/contract/keys.js";
import type { Permission, Role } from "../../../shared/permissions.js";
import { CheckChoice } from "../../components/check-choice.js";
import { RadioChoices } from "../../components/radio-choices.js";
import { usePrincipal } from "../../session/use-principal.js";
import { mayGrant, type KeyFormState } from "./key-form-state.js";

interface KeyRightsProps {
  readonly meta: CallOutput<typeof keys.meta>;
  readonly draft: KeyFormState;
  readonly onChange: (part: Partial<KeyFormState>) => void;
  readonly problem: string | undefined;
}

const roleNotes: Readonly<Record<Role, string>> = {
  admin: "All actions, including those on keys.",
  editor: "Installs, removes and restarts apps and plugins.",
  viewer: "Changes nothing. Reads all but the audit log, settings and values of variables.",
  custom: "Only the permissions that you choose.",
};

/**
 * Form fields for the role of a new key, and for its permissions if the role is `custom`. Choices beyond the permissions of the current key
 * are disabled.
 */
export function KeyRights({ meta, draft, onChange, problem }: KeyRightsProps) {
  const principal = usePrincipal();
  const roles = meta.roles.map((role) => {
    const isBeyond = !mayGrant(principal, meta.rolePermissions[role] ?? []);
    return {
      value: role,
      label: role,
      note: isBeyond ? "Your own key does not have this permission." : roleNotes[role],
      isDisabled: isBeyond,
    };
  });
  return (
    <>
      <RadioChoices label="Role" choices={roles} value={draft.role} onChange={(role) => onChange({ role: role as Role })} />
      {draft.role === "custom" && (
        <CheckboxGroup
          className="field"
          value={[...draft.permissions]}
          onChange={(permissions) => onChange({ permissions: permissions as Permission[] })}
          isInvalid={problem !== undefined}
          validationBehavior="aria"
        >
          <Label className="field-label">Permissions</Label>
          <div className="key-permissions">
            {meta.permissions.map((permission) => (
              <CheckChoice key={permission} value={permission} isDisabled={!principal.permissions.includes(permission)}>
                <code>{permission}</code>
              </CheckChoice>
            ))}
          </div>
          <FieldError className="field-error">{problem}</FieldError>
        </CheckboxGroup>
      )}
    </>
  );
}
