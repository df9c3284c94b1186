// Migrates a key store for kill tests: node migrate-subject.mjs FILE [step|commit]. The second argument is the place where it kills
// itself.
import { openKeyDatabase } from "../../../build/server/access/key-database.js";
import { keyMigrations } from "../../../build/server/access/key-migrations.js";

const [file, killedAt] = process.argv.slice(2);
const killHere = (place) => {
  if (place === killedAt) process.kill(process.pid, "SIGKILL");
};
const addNote = {
  schema: keyMigrations.length + 1,
  summary: "add the column note",
  apply: (database) => {
    database.exec("ALTER TABLE keys ADD COLUMN note TEXT");
    database.exec("UPDATE keys SET note = 'note of ' || id");
    killHere("step");
  },
};
process.stdout.write("ready\n");
openKeyDatabase(file, { migrations: [...keyMigrations, addNote], onMigrated: () => killHere("commit") }).close();
