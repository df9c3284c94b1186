import * as plugins from "../../../shared/contract/plugins.js";

export const pluginOperations = {
  plugins: {
    list: plugins.list,
    loaded: plugins.loaded,
    reload: plugins.reload,
    enable: plugins.enable,
    disable: plugins.disable,
    remove: plugins.remove,
  },
};
