import { describe, expect, it } from '@jest/globals';
import { requirePostgresVersion, UnsupportedPostgresError } from './migrate.js';
import { findForeignMigrations } from './migration-order.js';

describe('the version of Postgres', () => {
  it('is refused below 14, with both versions in one line', () => {
    expect(() => requirePostgresVersion(130_022)).toThrow(UnsupportedPostgresError);
    expect(() => requirePostgresVersion(130_022)).toThrow(
      'the server runs Postgres 13, and Cadastre needs 14 or later; upgrade the server or use another one',
    );
    expect(() => requirePostgresVersion(140_000)).not.toThrow();
  });
});

describe('the generation of a database', () => {
  const files = ['001_first', '002_second'];
  const find = (...ran: readonly string[]) => findForeignMigrations([{ module: 'event_store', files, ran }])?.message;

  it('is accepted if it is the one of this version', () => {
    expect(find('000_generation_2', ...files)).toBeUndefined();
  });

  it('is refused if it is later', () => {
    expect(find('000_generation_2', '000_generation_3', ...files, '003_later')).toBe(
      'a later version of Cadastre has upgraded the database, and this version cannot read it; nothing was changed. ' +
        'Start the later version, or restore the backup from before the upgrade',
    );
  });
});

describe('the migrations of a database', () => {
  const files = ['001_first', '002_second', '003_third'];
  const foreign = (...ran: readonly string[]): string | undefined =>
    findForeignMigrations([
      { module: 'same', files, ran: files },
      { module: 'history', files, ran },
    ])?.message;

  it.each([[[]], [['001_first']], [files], [[...files, '004_of_a_later_version']]])(
    'are accepted if they begin like the files: %j',
    (ran) => {
      expect(foreign(...ran)).toBeUndefined();
    },
  );

  it.each([
    [['001_first', '002_renamed'], '002_renamed', '002_second'],
    [['001_first', '003_third'], '003_third', '002_second'],
    [['001_first', '002_second', '004_added_before'], '004_added_before', '003_third'],
  ])('are refused with both names if they differ from the files: %j', (ran, migration, file) => {
    expect(foreign(...ran)).toContain(`in history the migration ${migration} ran where this version has ${file};`);
  });
});
