import { Box, Text } from "ink";
import { useDashboard } from "../hooks/use-dashboard.js";
import { useSize } from "../hooks/use-size.js";
import { fitted } from "../fitted.js";
import { screens, type ScreenId } from "../screens/screens.js";

/** The screens by their keys; the one that is shown is inverse and stands in brackets. */
export function Tabs({ current }: { readonly current: ScreenId }) {
  const { keymap } = useDashboard();
  const { columns } = useSize();
  if (columns < 80) {
    const keys = screens.map(({ action }) => keymap.keyOf(action)).join(" ");
    const title = screens.find(({ id }) => id === current)?.title ?? "";
    return <Text wrap="truncate-end">{fitted(`[${title}]  screens: ${keys}`, columns)}</Text>;
  }
  return (
    <Box height={1} flexShrink={0} columnGap={1}>
      {screens.map(({ id, title, action }) => (
        <Text key={id} wrap="truncate-end" inverse={id === current}>
          {id === current ? `[${keymap.keyOf(action)} ${title}]` : ` ${keymap.keyOf(action)} ${title} `}
        </Text>
      ))}
    </Box>
  );
}
