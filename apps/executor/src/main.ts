#!/usr/bin/env node
import { createExecutorCommand } from './program.js';

await createExecutorCommand('cadastre-executor').parseAsync();
