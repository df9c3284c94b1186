import { config } from "zod/v4/core";

// Compiled validators are faster only after hundreds of values; a command reads two or three. Must be loaded before any schema is created.
config({ jitless: true });
