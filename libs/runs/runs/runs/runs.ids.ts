import { createHash } from 'node:crypto';

const ID_CHARACTERS = 16;

/** Returns a resource id, always the same one for the same cause, so that repeated work creates nothing a second time. */
export const deriveId = (prefix: string, cause: string): string =>
  `${prefix}-${createHash('sha256').update(cause).digest('hex').slice(0, ID_CHARACTERS)}`;
