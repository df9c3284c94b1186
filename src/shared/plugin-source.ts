/** Fields of a plugin in the response of `GET /plugins` that distinguish built-in and uploaded plugins. */
interface Origin {
  readonly source: "built-in" | "uploaded";
  readonly removable: boolean;
}

/** Describes the source of a plugin, and whether a built-in plugin has an override manifest. */
export function pluginSourceText({ source, removable }: Origin): string {
  if (source === "uploaded") return source;
  return removable ? `${source}, with a manifest of your own` : `${source}: it can be disabled, not deleted`;
}

/** Describes what a deletion removes: the manifest that overrides a built-in plugin, or the whole uploaded plugin. */
export function pluginRemovalText({ source }: Pick<Origin, "source">, name: string): string {
  return source === "built-in" ? `your own manifest for the built-in plugin ${name}` : `the plugin ${name}`;
}
