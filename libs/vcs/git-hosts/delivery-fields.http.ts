import { timingSafeEqual } from 'node:crypto';

export const getText = (value: string | string[] | undefined): string => (typeof value === 'string' ? value : '');

/** Returns whether both texts are equal, after a time that depends only on their length. */
export const areEqual = (one: string, other: string): boolean => {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
};

export const parseJson = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
};

/** Returns the id of a delivery; null for a field that contains none. */
export const parseId = (value: string | string[] | undefined): string | null => {
  const id = getText(value);
  return /^[\w-]{1,100}$/.test(id) ? id : null;
};
