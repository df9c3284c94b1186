import { Box } from "ink";
import { useState } from "react";
import type { Permission } from "../../../shared/permissions.js";
import { useKeyScope } from "../hooks/use-key-scope.js";
import { SafeText } from "./safe-text.js";

const nounWidth = 10;

interface Props {
  readonly permissions: readonly Permission[];
  readonly chosen: readonly Permission[];
  readonly isActive: boolean;
  readonly onChoose: (chosen: readonly Permission[]) => void;
  /** The other keys. */
  readonly onKey: (key: string) => void;
}

/** Permissions to tick, a line a noun: the arrows go through them, space ticks. */
export function PermissionGrid({ permissions, chosen, isActive, onChoose, onKey }: Props) {
  const [cursor, setCursor] = useState(0);
  const current = permissions[cursor];
  const takeKey = (key: string): boolean => {
    if (key === "right") setCursor((cursor + 1) % permissions.length);
    else if (key === "left") setCursor((cursor + permissions.length - 1) % permissions.length);
    else if (key === "space" && current)
      onChoose(permissions.filter((permission) => chosen.includes(permission) !== (permission === current)));
    else onKey(key);
    return true;
  };
  useKeyScope(isActive ? { handlers: {}, isModal: true, takeKey } : { handlers: {} });
  const nouns = [...new Set(permissions.map((permission) => nounOf(permission)))];
  return (
    <Box flexDirection="column" flexShrink={0}>
      {nouns.map((noun) => (
        <Box key={noun} height={1} columnGap={1}>
          <SafeText bold={isActive}>{`  ${noun}`.padEnd(nounWidth)}</SafeText>
          {permissions
            .filter((permission) => nounOf(permission) === noun)
            .map((permission) => (
              <SafeText key={permission} inverse={isActive && permission === current}>
                {`[${chosen.includes(permission) ? "x" : " "}] ${permission.slice(noun.length + 1)}`}
              </SafeText>
            ))}
        </Box>
      ))}
    </Box>
  );
}

function nounOf(permission: Permission): string {
  return permission.slice(0, permission.indexOf(":"));
}
