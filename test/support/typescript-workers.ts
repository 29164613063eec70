import { existsSync, readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';

// Vitest runs the sources by transforming them itself. This does not apply to threads that the product starts: Node loads
// their modules, and each thread inherits this file by `--import` (vitest.config.js). It finds `./x.ts` for `./x.js`, and
// transforms it.
registerHooks({
  resolve: (specifier, context, next) => {
    if (!/^\.\.?\/.*\.js$/.test(specifier) || !context.parentURL?.endsWith('.ts')) return next(specifier, context);
    const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
    return existsSync(source) ? { url: source.href, format: 'module', shortCircuit: true } : next(specifier, context);
  },
  load: (url, context, next) => {
    if (!url.endsWith('.ts')) return next(url, context);
    const source = readFileSync(fileURLToPath(url), 'utf8');
    return { format: 'module', source: stripTypeScriptTypes(source, { mode: 'transform' }), shortCircuit: true };
  },
});
