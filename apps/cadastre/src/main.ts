#!/usr/bin/env node
import 'reflect-metadata';
import { program } from './program.js';

await program.parseAsync();
