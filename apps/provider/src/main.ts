#!/usr/bin/env node
import { providerCommand } from './program.js';

await providerCommand('cadastre-provider').parseAsync();
