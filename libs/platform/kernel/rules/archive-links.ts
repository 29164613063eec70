import { posix } from 'node:path';

/** A `..` after a name: the name can be a link, and the folder above its target is then elsewhere. */
const HAS_LATE_PARENT = /(?:^|\/)(?!\.{0,2}(?:\/|$))[^/]+\/(?:.*\/)?\.\.(?:\/|$)/;

/** Linux accepts no longer targets, and the expression takes quadratic time. */
const MAX_TARGET_CHARACTERS = 4_096;

/** Returns whether the target of a link is in the folder of its archive, whatever other links there are. */
export const isInsideLink = (path: string, target: string): boolean => {
  if (target.length > MAX_TARGET_CHARACTERS || target.startsWith('/')) return false;
  const resolved = posix.normalize(posix.join(posix.dirname(path), target));
  const isInside = resolved !== '..' && !resolved.startsWith('../');
  return isInside && !HAS_LATE_PARENT.test(target);
};
