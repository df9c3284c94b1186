/** What can stand for a value on the command line, as far as it can be suggested. */
export type ValueKind = "worker" | "worker with version" | "worker version" | "plugin" | "key" | "profile" | "file" | "topic";

const kindsOfNouns: Readonly<Record<string, ValueKind>> = { plugins: "plugin", keys: "key", profile: "profile" };

/** What a placeholder such as `<name[@version]>` or `<file>` stands for among the arguments and flags of a noun's commands. */
export function valueKind(noun: string, syntax: string): ValueKind | undefined {
  const [placeholder = ""] = /(?<=[<[]).*(?=[>\]])/.exec(syntax.toLowerCase()) ?? [];
  const word = placeholder.replace(/\.\.\.$/, "");
  if (/^(file|path|dir|folder|archive)\b/.test(word)) return "file";
  if (word === "profile") return "profile";
  if (word === "topic") return "topic";
  if (word.startsWith("name@")) return "worker version";
  if (noun === "workers" && word.startsWith("name")) return word.includes("version") ? "worker with version" : "worker";
  return /^(name|id)\b/.test(word) ? kindsOfNouns[noun] : undefined;
}
