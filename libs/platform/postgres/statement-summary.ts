const OPERATION = /\b(select|insert|update|delete)\b/i;
const TARGET = /\b(?:from|into|update)\s+([a-z_][a-z0-9_.]*)/i;
const CALL = /^\s*select\s+([a-z_]+\.[a-z_]+)\s*\(/i;

/** Returns the operation of a statement and its first table or function: `SELECT workspaces`. It contains no values. */
export const summarizeStatement = (text: string): string => {
  const operation = OPERATION.exec(text)?.[1]?.toUpperCase() ?? 'STATEMENT';
  const target = CALL.exec(text)?.[1] ?? TARGET.exec(text)?.[1];
  return target === undefined ? operation : `${operation} ${target}`;
};
