/** A worker is a module with `fetch`: a standard Request in, a standard Response out. */
export default {
  fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/time") return Response.json({ time: new Date().toISOString() });
    const name = searchParams.get("name") ?? "world";
    return new Response(`${env.GREETING}, ${name}!\n`);
  },
};
