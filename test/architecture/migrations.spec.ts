import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/folders.js';
import { MODULE_FOLDERS } from '../support/modules.js';

/** Returns `history/001_history` for each migration of a module, in the order in which they run. */
const migrationsOf = async (module: string): Promise<readonly string[]> => {
  const files = await readdir(join(ROOT, MODULE_FOLDERS.get(module) ?? '', 'sql')).catch(() => []);
  return files
    .filter((file) => file.endsWith('.sql'))
    .toSorted()
    .map((file) => `${module}/${basename(file, '.sql')}`);
};

const recorded = async (): Promise<readonly string[]> =>
  (await readFile(join(ROOT, 'test/architecture/migrations.txt'), 'utf8'))
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));

describe('migrations', () => {
  it('keep their names and order once they are recorded, and new ones come last in their module', async () => {
    const names = await recorded();
    const modules = [...new Set([...MODULE_FOLDERS.keys(), ...names.map((name) => name.split('/')[0] ?? '')])];
    for (const module of modules.toSorted()) {
      const listed = names.filter((name) => name.startsWith(`${module}/`));
      // A database that ran a migration which was removed, renamed or preceded by a new one cannot be migrated further.
      expect(await migrationsOf(module)).toEqual(listed);
    }
  });
});
