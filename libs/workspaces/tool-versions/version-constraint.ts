/** A constraint in the form of npm's semver, which has no `!=`: a range, and versions that are left out of it. */
export type VersionConstraint = { readonly range: string; readonly except: readonly string[] };

const NUMBER = '(0|[1-9]\\d{0,8})';
/** A number, without zeros before it, or a word. */
const IDENTIFIER = '(?:0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*)';
const TERM = new RegExp(
  `^(=|!=|>=|>|<=|<|~>)?\\s*${NUMBER}(?:\\.${NUMBER}(?:\\.${NUMBER}(-${IDENTIFIER}(?:\\.${IDENTIFIER})*)?)?)?$`,
);

/**
 * `~>` lets the last of the numbers that are written grow: `~> 1.5.0` stays in 1.5, `~> 1.5` stays in 1, and `~> 1` goes
 * on for ever. npm's `~1.5` would stay in 1.5.
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
 * A version constraint as Terraform and OpenTofu write it, `>= 1.3, < 1.6`: terms that must all be met, in which numbers
 * that are left away are 0. Null where the text is none.
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
