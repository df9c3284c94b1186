/** What `GET /plugins` says of where a plugin comes from. */
interface Origin {
  readonly source: "built-in" | "uploaded";
  readonly removable: boolean;
}

/** Where a plugin comes from and what can be deleted of it, in words. */
export function pluginSourceText({ source, removable }: Origin): string {
  if (source === "uploaded") return source;
  return removable ? `${source}, with a manifest of your own` : `${source}: it can be disabled, not deleted`;
}

/** What deleting a plugin deletes, in words: the settings that were laid over a built-in one, or the plugin. */
export function pluginRemovalText({ source }: Origin, name: string): string {
  return source === "built-in" ? `your own manifest for the built-in plugin ${name}` : `the plugin ${name}`;
}
