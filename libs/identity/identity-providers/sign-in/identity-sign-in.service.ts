import { Ids, Quotas, Refusal, sql } from '#platform/kernel';
import type { EventStore } from '#storage/event-store';
import { createPersonContext, createSystemContext } from '#api/access';
import {
  ACCOUNT_RACES,
  chooseUsername,
  endSessions,
  findInvitedAccountByEmail,
  findUserSigningIn,
  isEmailTaken,
  prepareFirstAccount,
  prepareTakeover,
  type InvitedAccount,
  type UserSigningIn,
} from '#identity/people';
import {
  findUserByIdentity,
  IDENTITY_RACE,
  listLinkedIdentities,
  prepareIdentityLink,
  type LinkedIdentity,
  type SignInFlow,
  type SignInRequest,
} from '#identity/sign-in';
import type { IdentityClaims } from '../protocol/identity-claims.js';
import { toIdentityIssuer } from '../protocol/provider-settings.js';
import type { IdentityProviderRow } from '../providers/identity-providers.view.js';
import type { ProviderDirectory } from '../providers/provider-directory.service.js';
import type { GroupMapping } from './group-mapping.service.js';
import type { ProvisionedUsers } from './provisioned-users.port.js';
import { findTrustedEmail, findTrustedExternalId, findUnsatisfiedRules, type SignInFault } from './sign-in-rules.js';

/** `cookies` are values of Set-Cookie. */
type IdentitySignInResult =
  | { readonly outcome: 'signed-in' | 'needs-second-factor'; readonly cookies: readonly string[] }
  | { readonly outcome: 'refused'; readonly faults: readonly SignInFault[] };

type IdentifiedPerson = { readonly provider: IdentityProviderRow; readonly claims: IdentityClaims };

const refuse = (...faults: readonly SignInFault[]): IdentitySignInResult => ({ outcome: 'refused', faults });

type IdentitySignInDependencies = {
  readonly store: EventStore;
  readonly ids: Ids;
  readonly quotas: Quotas;
  readonly flow: SignInFlow;
  readonly mapping: GroupMapping;
  readonly provisioned: ProvisionedUsers;
  readonly directory: ProviderDirectory;
};

/**
 * Signs in people that a provider has identified. Issuer and subject together find the account, and never an address
 * alone: another provider, or an address that changed hands, must not open the account of somebody else (ADR 58).
 */
export class IdentitySignIn {
  constructor(private readonly dependencies: IdentitySignInDependencies) {}

  async signIn(person: IdentifiedPerson, request: SignInRequest): Promise<IdentitySignInResult> {
    const { flow, mapping } = this.dependencies;
    const { provider, claims } = person;
    const account = await this.findAccount(person);
    const faults = findUnsatisfiedRules(claims, provider.settings);
    if (account?.suspended) faults.push('suspended');
    if (faults.length > 0) {
      await (account
        ? this.recordRefusal(account, person, request)
        : flow.recordRefusal({ reason: 'identity', provider: provider.id }, request));
      return refuse(...faults);
    }
    const user = account ? await this.linkAccount(account, person, request) : await this.createAccount(person, request);
    if (typeof user !== 'string') {
      await flow.recordRefusal({ reason: 'identity', provider: provider.id, user: account?.id ?? null }, request);
      return user;
    }
    const { groups } = claims;
    const isMapped = await mapping.apply(provider, { user, groups, requestId: request.request.id });
    if (!isMapped) {
      await flow.recordRefusal({ reason: 'suspended', provider: provider.id, user }, request);
      return refuse('suspended');
    }
    const { providerSession, authenticatedAt, sessionEnd = null } = claims;
    const { provesTwoFactor } = provider.settings;
    const proved = { user, provider: provider.id, providerSession, authenticatedAt, sessionEnd, provesTwoFactor };
    const result = await flow.signInWithIdentity(proved, request);
    // The user was suspended or forgotten in between.
    return result.outcome === 'failed' ? refuse('suspended') : result;
  }

  /**
   * Returns the linked account, or the one that SCIM has provisioned for the person with a token of the provider. An
   * account that is linked already gets no further identity in this way.
   */
  private async findAccount({ provider, claims }: IdentifiedPerson): Promise<FoundAccount | undefined> {
    const { store } = this.dependencies;
    const identity = { issuer: toIdentityIssuer(provider.settings), subject: claims.subject };
    const linked = await findUserByIdentity(store.database, identity);
    const externalId = findTrustedExternalId(claims, provider.settings);
    const id = linked ?? (externalId === null ? null : await this.findProvisioned(externalId, provider));
    if (id === null) return undefined;
    const isLinked = linked !== undefined || (await listLinkedIdentities(store.database, id)).length > 0;
    // Another sign-in of the person can link the account between these reads.
    if (isLinked && linked === undefined && (await findUserByIdentity(store.database, identity)) !== id)
      return undefined;
    const user = await findUserSigningIn(store.database, id);
    return user && { ...user, isLinked };
  }

  /**
   * Users of tokens without a provider count only if no other provider could state their ids: several providers can give
   * the same id to different people.
   */
  private async findProvisioned(externalId: string, { id }: IdentityProviderRow): Promise<string | null> {
    const { directory, provisioned } = this.dependencies;
    const stating = (await directory.listEnabled()).filter(({ settings }) => settings.externalIdClaim !== null);
    const orNone = stating.every((one) => one.id === id);
    return provisioned.findUserByExternalId(externalId, { provider: id, orNone });
  }

  private async recordRefusal(account: FoundAccount, person: IdentifiedPerson, request: SignInRequest): Promise<void> {
    const { id, isLinked, suspended } = account;
    if (isLinked && !suspended) await this.endAccess(id, person, request);
    await this.dependencies.flow.recordRefusedIdentity(id, request);
  }

  /** Ends what the provider has given to a person who does not satisfy its rules any more: sessions, and teams of groups. */
  private async endAccess(user: string, { provider, claims }: IdentifiedPerson, request: SignInRequest): Promise<void> {
    const { store, ids, mapping } = this.dependencies;
    const requestId = request.request.id ?? ids.uuid();
    // If the provider stated no groups, no team changes, as for other sign-ins.
    await mapping.apply(provider, { user, groups: claims.groups && [], requestId });
    const where = sql`session.provider = ${provider.id}`;
    await endSessions(store, { user, where, reason: 'provider' }, createSystemContext('identity provider', requestId));
  }

  /** Links an account that SCIM has provisioned. Returns its id, or the refusal. */
  private linkAccount(
    account: FoundAccount,
    person: IdentifiedPerson,
    request: SignInRequest,
  ): Promise<string | IdentitySignInResult> {
    const { store, flow } = this.dependencies;
    const work = async (): Promise<string | IdentitySignInResult> => {
      // Another sign-in of the person can link the account first.
      const current = account.isLinked ? account : await this.findAccount(person);
      if (!current) return refuse('account');
      if (!current.isLinked) await flow.linkIdentity(current.id, this.describeIdentity(person), request);
      return current.id;
    };
    return store.retryOnConflict(work, { races: IDENTITY_RACE }).catch((error: unknown) => {
      if (error instanceof Refusal && error.kind === 'not-found') return refuse('suspended');
      throw error;
    });
  }

  /**
   * Creates the account of a person who signs in for the first time, or takes over the one that only an invitation has
   * created for the address. Returns its id, or the refusal.
   */
  private createAccount(person: IdentifiedPerson, { request }: SignInRequest): Promise<string | IdentitySignInResult> {
    const { store } = this.dependencies;
    const { provider, claims } = person;
    if (!provider.settings.createsUsers) return Promise.resolve(refuse('account'));
    const email = findTrustedEmail(claims, provider.settings);
    const work = async (): Promise<string | IdentitySignInResult> => {
      const linked = await this.findAccount(person);
      if (linked) return linked.id;
      const invited = email === null ? undefined : await findInvitedAccountByEmail(store, email);
      if (invited) return this.takeOver(invited, person, request);
      if (email !== null && (await isEmailTaken(store.database, email))) return refuse('email-taken');
      const { id, username, write } = await prepareFirstAccount(this.dependencies, { name: claims.name, email });
      const owner = { user: id, username, organizations: [] };
      const link = await prepareIdentityLink(store, owner, this.describeIdentity(person));
      await store.append([write, link], createPersonContext({ id, username }, request));
      return id;
    };
    return store.retryOnConflict(work, { races: [...ACCOUNT_RACES, IDENTITY_RACE] });
  }

  /** The person keeps the pending invitations. */
  private async takeOver(
    invited: InvitedAccount,
    person: IdentifiedPerson,
    request: SignInRequest['request'],
  ): Promise<string> {
    const { store } = this.dependencies;
    const { id } = invited;
    const name = chooseUsername(person.claims.name);
    const { username, write, condition } = await prepareTakeover(this.dependencies, invited, { name });
    const owner = { user: id, username, organizations: [] };
    const link = await prepareIdentityLink(store, owner, this.describeIdentity(person));
    await store.append([write, link], createPersonContext({ id, username }, request), [], [condition]);
    return id;
  }

  private describeIdentity({ provider, claims }: IdentifiedPerson): LinkedIdentity {
    const issuer = toIdentityIssuer(provider.settings);
    return { identity: this.dependencies.ids.next('lid'), provider: provider.id, issuer, subject: claims.subject };
  }
}

type FoundAccount = UserSigningIn & { readonly isLinked: boolean };
