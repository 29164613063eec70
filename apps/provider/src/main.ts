#!/usr/bin/env node
import { createProviderCommand } from './program.js';

await createProviderCommand('cadastre-provider').parseAsync();
