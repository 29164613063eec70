import { sql, type Sql } from '#platform/kernel';
import type { AttributeTable, DerivedAttributes } from './attribute-table.js';

/**
 * Returns the SQL expression for the values in a column of type jsonb. Rows of older builds lack the attributes that
 * were added later, until their view is rebuilt. They get the initial values here.
 */
export const selectStoredAttributes = (
  { added }: Pick<DerivedAttributes<AttributeTable>, 'added'>,
  column: string,
): Sql => (Object.keys(added).length > 0 ? sql`(${sql.json(added)}::jsonb || ${sql.raw(column)})` : sql.raw(column));
