import "./jitless-zod.js";
import { start } from "./start.js";

start();
