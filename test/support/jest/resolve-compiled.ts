import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = pathToFileURL(join(import.meta.dirname, '../../../')).href;
const COMPILED = pathToFileURL(join(process.env['CADASTRE_TEST_BUILD'] ?? '', 'dist/')).href;
const GLOBALS = new URL('globals.js', import.meta.url).href;

/** Jest names specs by their sources. A worker loads what the global set-up has compiled from them. */
const compiled = (specifier: string): string =>
  specifier.startsWith(ROOT) ? specifier.replace(ROOT, COMPILED).replace('.spec.ts?', '.spec.js?') : specifier;

registerHooks({
  resolve: (specifier, context, next) => {
    if (specifier === '@jest/globals') return { url: GLOBALS, format: 'module', shortCircuit: true };
    return next(specifier.includes('.spec.ts?') ? compiled(specifier) : specifier, context);
  },
});

// Stack traces name lines of the sources.
process.setSourceMapsEnabled(true);
