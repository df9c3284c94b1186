import { expect, test } from "vitest";
import { pluginFields } from "../../../../src/shared/plugin-fields.js";
import { PluginAppManifest } from "../../../../src/shared/worker-manifest.js";

test.each([{ token: "x" }, ["not a list of names"], "text"])(
  "the key `secrets` in a plugin manifest is a setting of the plugin (value: %j)",
  (secrets) => {
    const declared = { entrypoint: "index.html", secrets };
    const { fields } = pluginFields({ name: "guard", version: "1.0.0", enabled: true, fields: declared, declared }, undefined);
    expect(fields["config"]).toEqual({ secrets });
    expect(PluginAppManifest.parse(fields).secrets).toEqual([]);
    expect(PluginAppManifest.parse({}).secrets).toEqual([]);
  },
);
