import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The folder of the code that the global set-up has compiled, laid out like an installed product. */
export const BUILD = join(import.meta.dirname, '../../..');

/**
 * The folder of the sources. Code of tests runs from `BUILD`, so `import.meta.dirname` does not lead here. The
 * benchmark runs in this folder.
 */
export const ROOT = process.env['CADASTRE_TEST_ROOT'] ?? process.cwd();

/** The folder for the data of servers, which nobody needs after the tests. It is in memory if there is enough. */
export const DATA = process.env['CADASTRE_TEST_DATA'] ?? tmpdir();
