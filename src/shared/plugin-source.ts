/** Fields of a plugin in the response of `GET /plugins` that distinguish built-in and uploaded plugins. */
interface Origin {
  readonly source: "built-in" | "uploaded";
  readonly removable: boolean;
}

/** Returns a text about the source of a plugin: built in, built in with an override manifest, or uploaded. */
export function pluginSourceText({ source, removable }: Origin): string {
  if (source === "uploaded") return source;
  return removable ? `${source}, with a manifest of your own` : `${source}: it can be disabled, not deleted`;
}

/** Returns a text about what a deletion removes: the override manifest of a built-in plugin, or the whole uploaded plugin. */
export function pluginRemovalText({ source }: Pick<Origin, "source">, name: string): string {
  return source === "built-in" ? `your own manifest for the built-in plugin ${name}` : `the plugin ${name}`;
}
