const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("ok") });
console.log(`listening ${server.port}`);
