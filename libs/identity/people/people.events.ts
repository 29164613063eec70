import { z } from 'zod';
import {
  defineEvents,
  describeChangedAttributes,
  describeUsername,
  type AddedMembers,
  type LiveResource,
  type SentRule,
  type EventKinds,
  type PersonalText,
  type RecordedEvent,
} from '#platform/kernel';
import { optionalMembers } from '#api/json-api/rules';
import {
  inOrganization,
  NO_CREDENTIALS,
  onResource,
  ASSURANCES,
  isRestricted,
  NO_ORGANIZATION_ACCESS,
  ORGANIZATION_ACCESS,
  TOKEN_ACCESS,
  TOKEN_KINDS,
  UNRESTRICTED,
  type OrganizationAccess,
  type TokenKind,
  type TokenRestriction,
} from '#api/access';
import type { AuthenticationTokenEvent } from './authentication-tokens/authentication-token.js';
import {
  deriveHiddenAccountId,
  MEMBERSHIP_STATUSES,
  type Invitation,
  type MembershipEvent,
} from './memberships/membership.js';
import { VISIBILITIES, type TeamEvent } from './teams/team.js';
import type { UserEvent } from './users/user.js';

const organizationAccess = z.strictObject(
  Object.fromEntries(ORGANIZATION_ACCESS.map((access) => [access, z.boolean()])) as Record<
    keyof OrganizationAccess,
    z.ZodBoolean
  >,
);

const teamSettings = z.strictObject({
  name: z.string(),
  visibility: z.enum(VISIBILITIES),
  ssoTeamId: z.string().nullable(),
  allowMemberTokenManagement: z.boolean(),
});
const teamChanges = optionalMembers(teamSettings.extend({ organizationAccess: optionalMembers(organizationAccess) }));

const userChanges = optionalMembers(
  z.strictObject({ username: z.string(), email: z.string().nullable(), unconfirmedEmail: z.string().nullable() }),
);

/** Rights that did not exist when the team was created are not granted. */
const WITH_ALL_ACCESS: readonly AddedMembers[] = [{ to: 'organizationAccess', add: NO_ORGANIZATION_ACCESS }];

const WITH_TOKENS_AND_SSO: readonly AddedMembers[] = [
  { add: { ssoTeamId: null, allowMemberTokenManagement: true } },
  ...WITH_ALL_ACCESS,
];

const person = z.strictObject({ user: z.string(), username: z.string() });
const invitation = z.strictObject({ membership: z.string(), email: z.string().nullable() }).nullable();

type NamedUser = { readonly user: string; readonly username: string };
type InvitedUser = NamedUser & { readonly invitation: Invitation | null };

const describeUser = ({ user, username }: NamedUser) => ({ user: username, user_id: user });

/**
 * Describes a user, but only by the typed address until the user accepts: the inviter must not learn whether the
 * address has an account.
 */
const describeUnlessInvited = (data: InvitedUser) =>
  data.invitation
    ? { user: data.invitation.email, user_id: deriveHiddenAccountId(data.invitation.membership) }
    : describeUser(data);

const describeTeamMember = ({ username, invitation: invited }: InvitedUser) => ({
  user: invited ? invited.email : username,
});

/** Returns the id that hides a person who declines an invitation; otherwise null. */
const findHiddenDecliner = (
  { user, invitation: declined }: InvitedUser,
  { context }: Pick<RecordedEvent, 'context'>,
) => (declined && context.accessor.id === user ? deriveHiddenAccountId(declined.membership) : null);

/** The audit entries of version 1 named the account even before the person accepted. These entries stay unchanged. */
const WITHOUT_INVITATION: readonly AddedMembers[] = [{ add: { invitation: null } }];

const describeEmail = (person: string, ...at: readonly string[]): PersonalText => ({
  at: [...at, 'email'],
  person,
  kind: 'detail',
});

const describeInvitedTexts = ({ user }: Pick<NamedUser, 'user'>): readonly PersonalText[] => [
  ...describeUsername({ user }),
  describeEmail(user, 'invitation'),
];

const tokenKind = z.enum(TOKEN_KINDS);

const suspension = z.strictObject({ organizations: z.array(z.string()).readonly() });
const listOrganizations = ({ organizations }: { readonly organizations: readonly string[] }) => organizations;

/** Before this member, no audit trail of a user's organizations recorded the tokens. */
const WITHOUT_ORGANIZATIONS: readonly AddedMembers[] = [{ add: { organizations: [] } }];

/** Names the user of a token, because another person can create or delete it. Tokens of other owners have no `meta`. */
const describeOwningUser = ({ kind, owner }: { readonly kind: TokenKind; readonly owner: string }) =>
  kind === 'user' ? { user_id: owner } : null;

/** Adds the restriction of a token, if it has one, so that the entries of tokens without restrictions stay unchanged. */
const describeNewToken = (token: {
  readonly kind: TokenKind;
  readonly owner: string;
  readonly restriction: TokenRestriction;
}) => {
  const owner = describeOwningUser(token);
  const { access, organization } = token.restriction;
  return owner && isRestricted(token.restriction) ? { ...owner, access, organization_id: organization } : owner;
};

const team = onResource('teams', { in: 'team' });
const ownTeam: LiveResource = (word) => ({ ...team(word), access: { team: 'stream' } });
const teamMember: SentRule = { ...team('changed'), access: { user: { field: 'user' } } };

export const peopleEvents = {
  ...defineEvents(
    {
      topic: 'access',
      stream: 'user',
      audited: 'user',
      live: { unsent: 'an event of a person, who belongs to the site' },
      notImported: 'accounts belong to the site; an import creates them itself',
    },
    {
      UserCreated: {
        schema: z.strictObject({ username: z.string(), email: z.string().nullable(), siteAdmin: z.boolean() }),
        audit: {
          action: 'create',
          site: 'without-organization',
          meta: ({ username, siteAdmin }) => ({ user: username, site_admin: siteAdmin }),
        },
        personal: (_, { stream }) => [...describeUsername({ user: stream }), describeEmail(stream)],
      },
      UserUpdated: {
        // 2: the address may be null, because the address of a forgotten person is read as null.
        // 3: changes may contain unconfirmedEmail.
        schemaVersion: 3,
        upcast: { 1: [], 2: [] },
        schema: z.strictObject({ changes: userChanges }),
        audit: {
          action: 'update',
          site: 'without-organization',
          meta: ({ changes }) => describeChangedAttributes(changes),
        },
        personal: (_, { stream }) => [
          { at: ['changes', 'username'], person: stream, kind: 'name' },
          describeEmail(stream, 'changes'),
          { at: ['changes', 'unconfirmedEmail'], person: stream, kind: 'detail' },
        ],
      },
      UserSuspended: {
        schema: suspension,
        audit: { action: 'suspend', site: 'without-organization', organizations: listOrganizations },
      },
      UserUnsuspended: {
        schema: suspension,
        audit: { action: 'unsuspend', site: 'without-organization', organizations: listOrganizations },
      },
      SiteAdminGranted: {
        schema: z.strictObject({}),
        audit: { action: 'grant_admin', site: 'without-organization' },
      },
      SiteAdminRevoked: {
        schema: z.strictObject({}),
        audit: { action: 'revoke_admin', site: 'without-organization' },
      },
      UserConfirmed: { schema: z.strictObject({}), audit: { action: 'confirm', site: 'without-organization' } },
      UserForgotten: {
        schema: z.strictObject({}),
        audit: { action: 'forget', site: 'without-organization' },
        forgets: (_, { stream }) => stream,
      },
    },
  ),
  ...defineEvents(
    {
      topic: 'access',
      stream: 'ou',
      audited: 'organization_user',
      live: inOrganization('organization-memberships', 'read-memberships'),
    },
    {
      MembershipCreated: {
        schemaVersion: 2,
        upcast: { 1: WITHOUT_INVITATION },
        schema: person.extend({ email: z.string().nullable(), status: z.enum(MEMBERSHIP_STATUSES), invitation }),
        audit: { action: 'create', meta: describeUnlessInvited },
        live: 'created',
        ids: { refersTo: { user: ['user'], 'invitation.membership': ['ou'] } },
        personal: ({ user }) => [...describeInvitedTexts({ user }), describeEmail(user)],
      },
      MembershipAccepted: {
        schema: person,
        audit: { action: 'update', meta: describeUser },
        live: 'changed',
        ids: { refersTo: { user: ['user'] } },
        personal: describeUsername,
      },
      MembershipRemoved: {
        schemaVersion: 2,
        upcast: { 1: WITHOUT_INVITATION },
        schema: person.extend({ invitation }),
        audit: { action: 'destroy', meta: describeUnlessInvited, hiddenActor: findHiddenDecliner },
        live: 'deleted',
        ids: { refersTo: { user: ['user'], 'invitation.membership': ['ou'] } },
        personal: describeInvitedTexts,
      },
    },
  ),
  ...defineEvents(
    { topic: 'access', stream: 'team', audited: 'team', live: ownTeam },
    {
      TeamCreated: {
        schemaVersion: 3,
        schema: teamSettings.extend({ organizationAccess }),
        audit: { action: 'create', meta: ({ name }) => ({ name }) },
        live: team('created'),
        upcast: { 1: WITH_TOKENS_AND_SSO, 2: WITH_ALL_ACCESS },
      },
      TeamUpdated: {
        // 2: organizationAccess may contain delegatePolicyOverrides.
        schemaVersion: 2,
        upcast: { 1: [] },
        schema: z.strictObject({ changes: teamChanges }),
        audit: { action: 'update', meta: ({ changes }) => describeChangedAttributes(changes) },
        live: 'changed',
      },
      TeamDeleted: {
        schema: z.strictObject({ name: z.string() }),
        audit: { action: 'destroy', meta: ({ name }) => ({ name }) },
        live: 'deleted',
      },
      TeamMemberAdded: {
        schemaVersion: 2,
        upcast: { 1: WITHOUT_INVITATION },
        schema: person.extend({ invitation }),
        audit: { action: 'add_member', meta: describeTeamMember },
        live: teamMember,
        ids: { refersTo: { user: ['user'], 'invitation.membership': ['ou'] } },
        personal: describeInvitedTexts,
      },
      TeamMemberRemoved: {
        schemaVersion: 2,
        upcast: { 1: WITHOUT_INVITATION },
        schema: person.extend({ invitation }),
        audit: { action: 'remove_member', meta: describeTeamMember, hiddenActor: findHiddenDecliner },
        live: teamMember,
        ids: { refersTo: { user: ['user'], 'invitation.membership': ['ou'] } },
        personal: describeInvitedTexts,
      },
    },
  ),
  ...defineEvents(
    { topic: 'access', stream: 'at', audited: 'authentication_token', live: NO_CREDENTIALS },
    {
      AuthenticationTokenCreated: {
        // 2: assurance. 3: organizations; descriptions of users' tokens are encrypted, because they can contain an address.
        // 4: assurance can be oidc-two-factor. 5: restriction.
        schemaVersion: 5,
        upcast: {
          1: [{ add: { assurance: null } }],
          2: WITHOUT_ORGANIZATIONS,
          3: [],
          4: [{ add: { restriction: UNRESTRICTED } }],
        },
        schema: z.strictObject({
          kind: tokenKind,
          owner: z.string(),
          description: z.string().nullable(),
          createdBy: z.strictObject({ type: z.string(), id: z.string() }).nullable(),
          expiredAt: z.iso.datetime().nullable(),
          assurance: z.enum(ASSURANCES).nullable(),
          organizations: z.array(z.string()).readonly(),
          restriction: z.strictObject({ access: z.enum(TOKEN_ACCESS), organization: z.string().nullable() }),
        }),
        audit: {
          action: 'create',
          site: 'without-organization',
          organizations: listOrganizations,
          meta: describeNewToken,
        },
        ids: {
          refersTo: {
            owner: ['org', 'team', 'apool', 'agent', 'run'],
            'organizations[]': ['org'],
            'restriction.organization': ['org'],
          },
        },
        personal: ({ kind, owner }) =>
          kind === 'user' ? [{ at: ['description'], person: owner, kind: 'detail' }] : [],
      },
      AuthenticationTokenDestroyed: {
        schemaVersion: 2,
        upcast: { 1: WITHOUT_ORGANIZATIONS },
        schema: z.strictObject({ kind: tokenKind, owner: z.string(), organizations: z.array(z.string()).readonly() }),
        audit: {
          action: 'destroy',
          site: 'without-organization',
          organizations: listOrganizations,
          meta: describeOwningUser,
        },
        ids: { refersTo: { owner: ['org', 'team', 'apool', 'agent', 'run'], 'organizations[]': ['org'] } },
      },
    },
  ),
} satisfies EventKinds<UserEvent | MembershipEvent | TeamEvent | AuthenticationTokenEvent>;
