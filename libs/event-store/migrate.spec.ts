import { describe, expect, it } from '@jest/globals';
import { demandPostgres, PostgresTooOld } from './migrate.js';

describe('the version of Postgres', () => {
  it('is refused before 14, with both versions in one line', () => {
    expect(() => demandPostgres(130_022)).toThrow(PostgresTooOld);
    expect(() => demandPostgres(130_022)).toThrow(
      'the server runs Postgres 13, and Cadastre needs 14 or later; upgrade the server, or name another one',
    );
    expect(() => demandPostgres(140_000)).not.toThrow();
  });
});
