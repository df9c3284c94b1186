// A Hono app, given as a module whose default export it is, on @hono/node-server.
import { pathToFileURL } from "node:url";
import { serve } from "@hono/node-server";

const { default: app } = await import(pathToFileURL(process.argv[2]).href);
serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => console.log(`listening ${port}`));
process.on("SIGTERM", () => process.exit());
