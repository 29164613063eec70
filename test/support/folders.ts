import { join } from 'node:path';

/** What the global set-up has compiled from the sources, laid out like an installed product. */
export const BUILD = join(import.meta.dirname, '../../..');

/** The folder of the sources. Code of tests runs from `BUILD`, so `import.meta.dirname` does not lead there; the benchmark runs in it. */
export const ROOT = process.env['CADASTRE_TEST_ROOT'] ?? process.cwd();
