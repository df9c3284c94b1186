import { records } from "./payload.js";

export default { fetch: () => Response.json(records) };
