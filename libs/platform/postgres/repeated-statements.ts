import { sql, type Sql } from '#platform/kernel';
import { isOutdatedPlanError } from './postgres-errors.js';

/**
 * Returns what is sent again after an error of a prepared statement. PgBouncer keeps statements for all its clients: after an
 * outdated plan, neither the close nor another parse of the name reaches Postgres, so the statements get no names.
 */
export const listRepeated = (statements: readonly Sql[], error: unknown, isPooled: boolean): readonly Sql[] =>
  isPooled && isOutdatedPlanError(error) ? statements.map(sql.unkept) : statements;
