import { work } from "./work.js";

export default { fetch: (_request, env) => new Response(String(work(Number(env.STEPS)))) };
