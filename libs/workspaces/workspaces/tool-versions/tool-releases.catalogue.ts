import { rcompare, Range, satisfies, SemVer, valid } from 'semver';
import { OPENTOFU_RELEASES, PREVIEWS, TERRAFORM_RELEASES } from './built-in-releases.js';
import { parseVersionConstraint, type VersionConstraint } from './version-constraint.js';

/** The value that clients write for the newest release. */
const LATEST = 'latest';
const ANY: VersionConstraint = { range: '*', except: [] };

const REMEDY = 'An operator can add releases with the setting CADASTRE_TOOL_RELEASES';

const isExact = (version: string): boolean => valid(version) === version;

/**
 * True if the caller runs the version. CLIs send their version without its prerelease in the header
 * `Terraform-Version`: 1.17.0 for 1.17.0-rc1, and for a development build, 1.17.0-dev.
 */
const isRunning = (version: string, running: string | undefined): boolean => {
  const { major, minor, patch } = new SemVer(version);
  return version === running || `${major}.${minor}.${patch}` === running;
};

const sortNewestFirst = (versions: readonly string[]): readonly SemVer[] =>
  [...new Set(versions)].map((version) => new SemVer(version)).toSorted(rcompare);

/** A release in the list for administrators. */
export type ToolRelease = {
  readonly version: string;
  readonly isPreview: boolean;
  /** False if the operator added it. */
  readonly isBuiltIn: boolean;
};

/**
 * The tool releases that workspaces may choose: the built-in ones, and those that the operator adds. A workspace does
 * not say which of the two tools it means. An ambiguous constraint means Terraform, because the attribute has its name,
 * and OpenTofu if no Terraform release matches.
 */
export class ToolReleases {
  /** All releases, the newest first. A version that both tools have is one release. */
  readonly list: readonly ToolRelease[];
  private readonly versions: ReadonlySet<string>;
  private readonly final: readonly SemVer[];

  constructor(added: readonly string[] = []) {
    const builtIn: ReadonlySet<string> = new Set([...TERRAFORM_RELEASES, ...OPENTOFU_RELEASES, ...PREVIEWS]);
    this.versions = new Set([...builtIn, ...added]);
    this.list = [...this.versions]
      .map((version) => new SemVer(version))
      .toSorted((one, other) => other.compare(one) || other.compareBuild(one))
      .map(({ raw, prerelease }) => ({ version: raw, isPreview: prerelease.length > 0, isBuiltIn: builtIn.has(raw) }));
    const own = sortNewestFirst([...TERRAFORM_RELEASES, ...added]).filter(({ prerelease }) => prerelease.length === 0);
    this.final = [...own, ...sortNewestFirst(OPENTOFU_RELEASES)];
  }

  /** Returns the newest release, which is the default of a workspace. */
  get latest(): string {
    return this.resolve(LATEST);
  }

  /**
   * Returns the release that a version or a constraint resolves to today, or the text itself if it resolves to none.
   */
  resolve(version: string): string {
    return this.releaseFor(version) ?? version;
  }

  /**
   * Returns the problem with a requested version, as the rest of a sentence that begins with its name; null if there is
   * none. The version that the caller is `running` is accepted even if it is unknown, because every new CLI is released
   * before the list that names it.
   */
  problemOf(version: string, running?: string): string | null {
    if (this.releaseFor(version) !== null) return null;
    if (isExact(version)) return isRunning(version, running) ? null : `${version} is not a known release. ${REMEDY}`;
    return parseVersionConstraint(version) === null
      ? `must be a release such as 1.5.7, a constraint such as ~> 1.5.0, or ${LATEST}`
      : `${version} is met by no known release. ${REMEDY}`;
  }

  private releaseFor(version: string): string | null {
    if (isExact(version)) return this.versions.has(version) ? version : null;
    const constraint = version === LATEST ? ANY : parseVersionConstraint(version);
    return constraint && (this.newestMeeting(constraint) ?? this.previewMeeting(constraint));
  }

  private newestMeeting({ range, except }: VersionConstraint): string | null {
    const allowed = new Range(range);
    return (
      this.final.find((release) => satisfies(release, allowed) && !except.includes(release.version))?.version ?? null
    );
  }

  /** A preview matches only by its exact name, `= 1.17.0-beta1`. */
  private previewMeeting({ range }: VersionConstraint): string | null {
    const version = range.replace('=', '');
    return range.startsWith('=') && this.versions.has(version) ? version : null;
  }
}
