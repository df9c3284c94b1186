#!/usr/bin/env node
import { runDaemon } from "../dist/server/main.js";

await runDaemon();
