/** A whole number in a version has at most 16 digits, because larger ones are not exact. */
const toSortableNumber = (digits: string): string => digits.padStart(16, '0');

/** Numbers come before texts, and end before longer lists (semver §11). A space sorts before all characters of a version. */
const toSortableIdentifier = (identifier: string): string =>
  /^\d+$/.test(identifier) ? `0${toSortableNumber(identifier)}` : `1${identifier}`;

/** Returns whether a semantic version is a pre-release, which clients install only if a configuration names it exactly. */
export const isPreRelease = (version: string): boolean => (version.split('+')[0] ?? '').includes('-');

/** Returns a text for a semantic version. The byte order of these texts is the order of the versions. */
export const toSortableVersion = (version: string): string => {
  const [precedence = ''] = version.split('+');
  const dash = precedence.indexOf('-');
  const core = dash === -1 ? precedence : precedence.slice(0, dash);
  const numbers = core.split('.').map(toSortableNumber).join('.');
  // A release comes after its pre-releases.
  if (dash === -1) return `${numbers}~`;
  return `${numbers}-${precedence
    .slice(dash + 1)
    .split('.')
    .map(toSortableIdentifier)
    .join(' ')}`;
};
