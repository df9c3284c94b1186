/** The commands that scripts repeat. They are bundled once more, without the others: what is not there need not be read. */
const quickCommands = ["workers list"] as const;

export type QuickCommand = (typeof quickCommands)[number];

/** Whether the small bundle has the command of these words. */
export function isQuick(words: string): words is QuickCommand {
  return (quickCommands as readonly string[]).includes(words);
}
