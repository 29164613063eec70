/** A constraint in the form of npm's semver, which has no `!=`: a range, and the versions that are excluded from it. */
export type VersionConstraint = { readonly range: string; readonly except: readonly string[] };

const NUMBER = '(0|[1-9]\\d{0,8})';
/** A number without leading zeros, or a word. */
const IDENTIFIER = '(?:0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*)';
const TERM = new RegExp(
  `^(=|!=|>=|>|<=|<|~>)?\\s*${NUMBER}(?:\\.${NUMBER}(?:\\.${NUMBER}(-${IDENTIFIER}(?:\\.${IDENTIFIER})*)?)?)?$`,
);

/**
 * `~>` lets the last written number grow: `~> 1.5.0` means 1.5.x, `~> 1.5` means 1.x, and `~> 1` has no upper bound.
 * npm's `~1.5` would mean 1.5.x.
 */
const expandPessimistic = (
  version: string,
  major: number,
  minor: string | undefined,
  patch: string | undefined,
): string => {
  if (minor === undefined) return `>=${version}`;
  const end = patch === undefined ? `${major + 1}.0.0` : `${major}.${Number(minor) + 1}.0`;
  return `>=${version} <${end}`;
};

/**
 * Parses a version constraint of Terraform or OpenTofu, such as `>= 1.3, < 1.6`: all terms must hold, and missing
 * numbers are 0. Returns null if the text is not a constraint.
 */
export const parseVersionConstraint = (text: string): VersionConstraint | null => {
  const range: string[] = [];
  const except: string[] = [];
  for (const term of text.split(',')) {
    const [match, operator = '=', major = '', minor, patch, preview = ''] = TERM.exec(term.trim()) ?? [];
    if (match === undefined) return null;
    const version = `${major}.${minor ?? 0}.${patch ?? 0}${preview}`;
    if (operator === '!=') except.push(version);
    else if (operator === '~>') range.push(expandPessimistic(version, Number(major), minor, patch));
    else range.push(`${operator}${version}`);
  }
  return { range: range.join(' ') || '*', except };
};
