import { toAttributeName } from '#platform/kernel';
import {
  can,
  computeRoles,
  expandCapabilities,
  getRequiredCapability,
  listLevelsGranting,
  listSufficientRoles,
  UNRESTRICTED,
  type Grant,
  type Identity,
  type TeamRow,
} from '#api/access/rules';
import type { ExplainedPermission } from './explained-permissions.js';

/** A team of the explained user, or the explained team, with its grants on the resource. */
export type ExplainedTeam = TeamRow & { readonly name: string; readonly grants: readonly Grant[] };

/** The user or team whose access is explained. Teams have no membership and are never suspended. */
export type ExplainedSubject = {
  readonly kind: 'user' | 'team';
  readonly id: string;
  readonly name: string;
  readonly siteAdmin: boolean;
  readonly suspended: boolean;
  readonly organization: string;
  readonly teams: readonly ExplainedTeam[];
};

/** Where a step looks for the permission. */
export const STEP_SOURCES = [
  'account',
  'site',
  'membership',
  'organization-access',
  'project-access',
  'workspace-access',
] as const;

export type ExplanationStep = {
  readonly source: (typeof STEP_SOURCES)[number];
  /** The team of the access, or null. */
  readonly team: { readonly id: string; readonly name: string } | null;
  /** The level or the right that the step found, or null. */
  readonly access: string | null;
  /** Whether this step alone gives the permission. */
  readonly gives: boolean;
  readonly detail: string;
};

/**
 * On how many of the workspaces or projects of the organization a subject has a permission, for explanations that name
 * none. `examples` are some of those with the permission, by name.
 */
export type PermittedResources = {
  readonly total: number;
  readonly permitted: number;
  readonly examples: readonly { readonly id: string; readonly name: string }[];
};

export type AccessExplanation = {
  /** Whether the subject has the permission. Without a resource: whether a role gives it in the whole organization. */
  readonly isPermitted: boolean;
  readonly steps: readonly ExplanationStep[];
  /** Roles and levels, each of which suffices. */
  readonly sufficient: { readonly roles: readonly string[]; readonly levels: readonly string[] };
};

export type ExplainedRequest = { readonly subject: ExplainedSubject; readonly permission: ExplainedPermission };

const toIdentity = ({ kind, id, name, siteAdmin, suspended, organization, teams }: ExplainedSubject): Identity => ({
  kind,
  id,
  name,
  siteAdmin: siteAdmin && !suspended,
  credential: 'session',
  assurance: null,
  provedAt: null,
  teams: suspended ? [] : teams.map((team) => team.id),
  rolesByOrganization: computeRoles(suspended ? [] : teams, suspended || kind === 'team' ? [] : [organization]),
  closedTo: new Map(),
  restriction: UNRESTRICTED,
  expiredAt: null,
  token: null,
  subjects: '{}',
  epoch: 0,
  snapshot: null,
});

const explainAccount = ({ name, suspended }: ExplainedSubject): readonly ExplanationStep[] => {
  if (!suspended) return [];
  const detail = `The account ${name} is suspended, so nothing below gives it a permission.`;
  return [{ source: 'account', team: null, access: null, gives: false, detail }];
};

const explainSite = ({ subject: { name, siteAdmin }, permission }: ExplainedRequest): readonly ExplanationStep[] => {
  if (!siteAdmin) return [];
  const gives = listSufficientRoles(permission).some((role) => role === 'owner' || role === 'member');
  const detail = gives
    ? `${name} administers the site, and so counts as an owner of every organization.`
    : `${name} administers the site, but owners do not have this permission.`;
  return [{ source: 'site', team: null, access: 'site-admin', gives, detail }];
};

const explainMembership = ({ subject: { kind, name }, permission }: ExplainedRequest): ExplanationStep => {
  const gives = listSufficientRoles(permission).includes('member');
  const who =
    kind === 'user' ? `${name} is a member of the organization` : `The token of the team ${name} counts as a member`;
  const detail = `${who}, and members ${gives ? 'have' : 'do not have'} this permission.`;
  return { source: 'membership', team: null, access: 'member', gives, detail };
};

const formatRole = (role: string): string => toAttributeName(role);

const explainOrganizationAccess = (team: ExplainedTeam, permission: ExplainedPermission): ExplanationStep => {
  const { id, name, organization } = team;
  const roles = [...(computeRoles([team]).get(organization) ?? [])].filter((role) => role !== 'member');
  const sufficient = roles.find((role) => listSufficientRoles(permission).includes(role));
  const step = { source: 'organization-access', team: { id, name } } as const;
  if (sufficient === 'owner') {
    return { ...step, access: 'owner', gives: true, detail: `The team ${name} owns the organization.` };
  }
  if (sufficient !== undefined) {
    const detail = `The team ${name} has ${formatRole(sufficient)} in the whole organization.`;
    return { ...step, access: formatRole(sufficient), gives: true, detail };
  }
  const names = roles.map(formatRole).join(', ');
  const detail =
    names === ''
      ? `The team ${name} has no access to the whole organization.`
      : `The team ${name} has ${names} in the whole organization, which does not include this permission.`;
  return { ...step, access: names === '' ? null : names, gives: false, detail };
};

/** The resource of an explanation. Projects have no workspace. */
export type ExplainedResource = {
  readonly project: { readonly id: string; readonly name: string };
  readonly workspace: { readonly id: string; readonly name: string } | null;
};

const describeGrant = (grant: Grant, { name }: ExplainedTeam, { project, workspace }: ExplainedResource): string => {
  if (grant.level === 'passage') {
    return `The team ${name} can see a workspace in the project ${project.name}, which implies reading the project`;
  }
  const where = grant.on === 'workspace' ? `the workspace ${workspace?.name ?? ''}` : `the project ${project.name}`;
  return `The team ${name} has ${grant.level} access to ${where}`;
};

const explainGrants = (
  team: ExplainedTeam,
  permission: ExplainedPermission,
  resource: ExplainedResource,
): readonly ExplanationStep[] => {
  const capability = getRequiredCapability(permission);
  return (['project', 'workspace'] as const).flatMap((on): readonly ExplanationStep[] => {
    if (on === 'workspace' && resource.workspace === null) return [];
    const step = { source: `${on}-access`, team: { id: team.id, name: team.name } } as const;
    const grants = team.grants.filter((grant) => grant.on === on);
    if (grants.length === 0) {
      const where =
        on === 'project' ? `project ${resource.project.name}` : `workspace ${resource.workspace?.name ?? ''}`;
      const detail = `The team ${team.name} has no access of its own to the ${where}.`;
      return [{ ...step, access: null, gives: false, detail }];
    }
    return grants.map((grant) => {
      const gives = capability !== undefined && expandCapabilities(grant).has(capability);
      const detail = `${describeGrant(grant, team, resource)}, which ${gives ? 'includes' : 'does not include'} this permission.`;
      return { ...step, access: grant.level, gives, detail };
    });
  });
};

/** Returns whether the subject has the permission in the whole organization, by a role. */
export const isPermittedEverywhere = ({ subject, permission }: ExplainedRequest): boolean =>
  can(toIdentity(subject), permission, { organization: subject.organization });

/** Returns whether this grant gives the permission to a subject that is not suspended. */
export const isPermittedByGrant = ({ subject, permission }: ExplainedRequest, grant: Grant): boolean => {
  const capability = getRequiredCapability(permission);
  return !subject.suspended && capability !== undefined && expandCapabilities(grant).has(capability);
};

/**
 * Returns whether the subject has the permission, and one step for each place in which the permission table looks for it.
 * The decision is that of `can`; at least one step gives the permission if and only if it is permitted, unless the account
 * is suspended.
 */
export const explainAccess = (request: ExplainedRequest, resource: ExplainedResource | null): AccessExplanation => {
  const { subject, permission } = request;
  const capability = getRequiredCapability(permission);
  const grants = subject.suspended ? [] : subject.teams.flatMap((team) => team.grants);
  const isPermitted = can(toIdentity(subject), permission, { organization: subject.organization, grants });
  return {
    isPermitted,
    steps: [
      ...explainAccount(subject),
      ...explainSite(request),
      explainMembership(request),
      ...subject.teams.flatMap((team) => [
        explainOrganizationAccess(team, permission),
        ...(resource === null || capability === undefined ? [] : explainGrants(team, permission, resource)),
      ]),
    ],
    sufficient: {
      roles: listSufficientRoles(permission).map(formatRole),
      levels:
        capability === undefined
          ? []
          : listLevelsGranting(capability).filter((level) => /^(?:project|workspace) (?!passage)/.test(level)),
    },
  };
};
