/** A `..` after a name: the name can be a link, and the folder above its target is then elsewhere. */
const HAS_LATE_PARENT = /(?:^|\/)(?!\.{0,2}(?:\/|$))[^/]+\/(?:.*\/)?\.\.(?:\/|$)/;

/** Linux accepts no longer targets, and the expression takes quadratic time. */
const MAX_TARGET_CHARACTERS = 4_096;

/** Returns whether no parent of a relative path is above its start. */
const staysInside = (path: string): boolean => {
  let depth = 0;
  for (const segment of path.split('/')) {
    if (segment === '..') depth -= 1;
    else if (segment !== '' && segment !== '.') depth += 1;
    if (depth < 0) return false;
  }
  return true;
};

/** Returns whether the target of a link is in the folder of its archive, whatever other links there are. */
export const isInsideLink = (path: string, target: string): boolean => {
  if (target.length > MAX_TARGET_CHARACTERS || target.startsWith('/')) return false;
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  return staysInside(`${folder}${target}`) && !HAS_LATE_PARENT.test(target);
};
