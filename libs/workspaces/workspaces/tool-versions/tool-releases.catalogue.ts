import { createHash } from 'node:crypto';
import { rcompare, Range, satisfies, SemVer, valid } from 'semver';
import { OPENTOFU_RELEASES, PREVIEWS, TERRAFORM_RELEASES } from './built-in-releases.js';
import { OPA_RELEASES } from './opa-releases.js';
import { findToolOfVersion } from './tool-of-version.js';
import type { ToolProgram, ToolVersionSettings } from './tool-version.js';
import type { SiteRelease } from './tool-versions.view.js';
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

const compareReleases = (one: ToolRelease, other: ToolRelease): number => {
  const [first, second] = [new SemVer(one.version), new SemVer(other.version)];
  return second.compare(first) || second.compareBuild(first);
};

/** A release in the list for administrators. */
export type ToolRelease = {
  readonly id: string;
  readonly version: string;
  readonly settings: ToolVersionSettings;
  /** Whether the server or the setting of the operator lists it. Administrators cannot rename or delete such a release. */
  readonly isListed: boolean;
};

/** Releases that the server lists have no stored id. `name`: the version, or for other programs than terraform also the program. */
const deriveReleaseId = (name: string): string =>
  `tool-${createHash('sha256').update(name).digest('hex').slice(0, 16)}`;

const DEFAULTS = { enabled: true, deprecated: false, deprecatedReason: null };

/** Returns the releases with what administrators of the site have added or changed, the newest first. */
const mergeReleases = (listed: readonly ToolRelease[], site: readonly SiteRelease[]): readonly ToolRelease[] => {
  const releases = new Map(listed.map((release) => [release.id, release]));
  const listedIds = new Map(listed.map(({ id, version }) => [version, id]));
  for (const { id, version, settings } of site) {
    // The server can list a release that an administrator had added before.
    const listedId = listedIds.get(version);
    if (listedId !== undefined && listedId !== id) releases.delete(listedId);
    releases.set(id, { id, version, settings, isListed: releases.has(id) });
  }
  return [...releases.values()].toSorted(compareReleases);
};

const LISTED_OPA_RELEASES = OPA_RELEASES.map(({ version, archs }): ToolRelease => ({
  id: deriveReleaseId(`opa ${version}`),
  version,
  settings: { ...DEFAULTS, official: true, beta: false, archs },
  isListed: true,
}));

/** The list of the site also contains releases that only OpenTofu has. */
const isOfTerraform = (version: string): boolean => findToolOfVersion(version) === 'terraform';

const toListedRelease = ({ raw, prerelease }: SemVer, isOfficial: boolean): ToolRelease => ({
  id: deriveReleaseId(raw),
  version: raw,
  settings: { ...DEFAULTS, official: isOfficial, beta: prerelease.length > 0, archs: [] },
  isListed: true,
});

/**
 * The tool releases that workspaces may choose: the built-in ones, those that the operator adds, and those of the
 * administrators of the site. A workspace does not say which of the two tools it means. An ambiguous constraint means
 * Terraform, because the attribute has its name, and OpenTofu if no Terraform release matches.
 */
export class ToolReleases {
  /** All releases, the newest first. A version that both tools have is one release. */
  readonly list: readonly ToolRelease[];
  private readonly byVersion: ReadonlyMap<string, ToolRelease>;
  private readonly final: readonly SemVer[];

  constructor(
    private readonly added: readonly string[] = [],
    site: readonly SiteRelease[] = [],
  ) {
    const builtIn: ReadonlySet<string> = new Set([...TERRAFORM_RELEASES, ...OPENTOFU_RELEASES, ...PREVIEWS]);
    const listed = [...new Set([...builtIn, ...added])].map((version) =>
      toListedRelease(new SemVer(version), builtIn.has(version)),
    );
    this.list = mergeReleases(listed, site);
    this.byVersion = new Map(this.list.map((release) => [release.version, release]));
    const own = [...TERRAFORM_RELEASES, ...added, ...site.map(({ version }) => version).filter(isOfTerraform)];
    this.final = [...this.sortFinal(own), ...this.sortFinal(OPENTOFU_RELEASES)];
  }

  /** Returns the releases with what administrators of the site have added or changed. */
  with(site: readonly SiteRelease[]): ToolReleases {
    return site.length === 0 ? this : new ToolReleases(this.added, site);
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
    if (this.byVersion.has(version)) return `${version} is disabled by the administrators of the site`;
    if (isExact(version)) return isRunning(version, running) ? null : `${version} is not a known release. ${REMEDY}`;
    return parseVersionConstraint(version) === null
      ? `must be a release such as 1.5.7, a constraint such as ~> 1.5.0, or ${LATEST}`
      : `${version} is met by no known release. ${REMEDY}`;
  }

  private releaseFor(version: string): string | null {
    if (isExact(version)) return this.byVersion.get(version)?.settings.enabled ? version : null;
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
    return range.startsWith('=') && this.byVersion.get(version)?.settings.enabled ? version : null;
  }

  /** Returns the enabled versions that are no previews, the newest first. */
  private sortFinal(versions: readonly string[]): readonly SemVer[] {
    return [...new Set(versions)]
      .filter((version) => {
        const settings = this.byVersion.get(version)?.settings;
        return settings?.enabled === true && !settings.beta;
      })
      .map((version) => new SemVer(version))
      .toSorted(rcompare);
  }
}

/** Returns the releases of a program, with what administrators of the site have added or changed, the newest first. */
export const listReleases = (
  releases: ToolReleases,
  program: ToolProgram,
  site: readonly SiteRelease[],
): readonly ToolRelease[] =>
  program === 'terraform' ? releases.with(site).list : mergeReleases(LISTED_OPA_RELEASES, site);

/** Returns the enabled release of OPA with this version, or for null the newest one that is no preview; null if there is none. */
export const findOpaRelease = (version: string | null, site: readonly SiteRelease[]): ToolRelease | null =>
  mergeReleases(LISTED_OPA_RELEASES, site).find(
    (release) => release.settings.enabled && (version === null ? !release.settings.beta : release.version === version),
  ) ?? null;
