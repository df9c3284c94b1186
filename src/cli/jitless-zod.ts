import { config } from "zod/v4/core";

// Compiled validators pay off after hundreds of values; a command reads two or three. Loaded before any schema is made, which is when zod looks.
config({ jitless: true });
