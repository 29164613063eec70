import pg from 'pg';

const INT8 = 20;
const TIMESTAMPTZ = 1184;

/**
 * Converts `2026-11-21 10:41:51.12+00` to `2026-11-21T10:41:51.120Z`. Rows contain times in the format of documents,
 * without a conversion to Date and back. The time zone of the session is UTC.
 */
export const formatIsoTime = (text: string): string => {
  const fraction = text.length > 22 ? text.slice(20, -3) : '';
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
};

export const rowTypes: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => {
    if (oid === TIMESTAMPTZ) return formatIsoTime;
    // Counts and positions stay far below 2^53.
    if (oid === INT8) return Number;
    // pg's type declarations leave the parser untyped.
    return pg.types.getTypeParser(oid, format) as (text: string) => unknown;
  },
};
