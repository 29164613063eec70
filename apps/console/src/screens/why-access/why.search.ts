import type { ExplanationSearch, ExplainablePermission } from '../../api/access.js';
import { PERMISSIONS } from './permissions.js';
import { toText } from '../../search-params.js';

const toPermission = (value: unknown): ExplainablePermission | undefined =>
  PERMISSIONS.flatMap(({ items }) => items).find((each) => each === value);

/** Reads what a person wants explained from the address. It ignores unknown parameters. */
export const parseExplanationRequest = (search: Readonly<Record<string, unknown>>): ExplanationSearch => {
  const texts = (['user', 'team', 'workspace', 'project'] as const).flatMap((name) => {
    const text = toText(search[name]);
    return text === undefined ? [] : [[name, text] as const];
  });
  const permission = toPermission(search['permission']);
  return { ...Object.fromEntries(texts), ...(permission === undefined ? {} : { permission }) };
};
