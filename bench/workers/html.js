import { page } from "./payload.js";

export default { fetch: () => new Response(page, { headers: { "content-type": "text/html; charset=utf-8" } }) };
