// A Koa server that responds with `ok`, or with the content of a file as JSON.
import { readFileSync } from "node:fs";
import Koa from "koa";

const [file] = process.argv.slice(2);
const json = file === undefined ? undefined : readFileSync(file);
const app = new Koa();
app.use((context) => {
  if (json === undefined) context.body = "ok";
  else {
    context.type = "application/json";
    context.body = json;
  }
});
const server = app.listen(0, "127.0.0.1", () => console.log(`listening ${server.address().port}`));
process.on("SIGTERM", () => process.exit());
