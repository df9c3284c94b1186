import type { PluginModule } from "../plugin/index.js";
import { Gateway } from "./gateway.js";
import { readSettings } from "./settings.js";

/**
 * The built-in plugin `plugin-gateway`. Defines only the hooks that the settings in its manifest need, because each hook costs time per
 * request.
 */
const createPlugin: PluginModule = (config) => {
  const gateway = new Gateway(readSettings(config));
  return {
    onInit: (context) => gateway.open(context),
    ...(gateway.handlesRequests ? { onRequest: (request, app) => gateway.answer(request, app) } : {}),
    ...(gateway.changesAnswers ? { onResponse: (response, app, request) => gateway.complete(response, app, request) } : {}),
    onShutdown: () => gateway.close(),
  };
};

export default createPlugin;
