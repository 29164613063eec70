import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { z } from 'zod';
import {
  createEventContext,
  hasRecentSignIn,
  requirePermission,
  SITE_SCOPE,
  verifyCurrentAccess,
  type Actor,
} from '#api/access';
import { unprocessable, type Refusal, type Sql } from '#platform/kernel';
import { findUserByLogin } from '#identity/people';
import { getViolatedConstraint } from '#platform/postgres';
import { hasSecondFactor } from '../flow/accounts.queries.js';
import type { SignInServices } from '../flow/sign-in-flow.service.js';
import {
  findUserByIdentity,
  IDENTITY_RACE,
  listLinkedIdentities,
  type ProviderSubject,
} from '../identities/linked-identities.view.js';
import { deletePassword, storePassword } from '../methods/secrets.view.js';
import { ChangeSignInMethods, type MethodsChange } from '../methods/sign-in-methods.handler.js';
import type { PasskeyAnswer } from '../passkeys/passkey-ceremonies.service.js';
import { deletePasskey, deletePasskeys, insertPasskey, renamePasskey } from '../passkeys/passkeys.queries.js';
import { checkPassword } from '../passwords/password-rules.js';
import { createRecoveryCodes, createTotpSecret, findTotpStep, formatTotpAddress } from '../totp/totp.codes.js';
import { deleteTotp, replaceRecoveryCodes, storeTotpSecret } from '../totp/totp.queries.js';

const SETUP_MS = 15 * 60_000;
const PASSKEY_NAME_MAX = 60;

const setupContent = z.object({ user: z.string(), secret: z.string() });

/** A secret that the person adds to an app before it counts. */
export type TotpSetup = { readonly secret: string; readonly address: string; readonly token: string };

/** Changes how a person signs in. Every change of a factor ends the other sessions of the person. */
@Injectable()
export class AccountService {
  constructor(
    private readonly dependencies: SignInServices,
    private readonly bus: CommandBus,
  ) {}

  /**
   * Returns whether the sign-in of the session is recent and strong enough for a change of sign-in methods. If the site
   * requires a second factor, a session without one can add the first factor only. Otherwise a password could replace a
   * factor that the person has.
   */
  async mayChangeFactors(actor: Actor): Promise<boolean> {
    const { clock, store, twoFactor } = this.dependencies;
    if (!hasRecentSignIn(actor, clock.now())) return false;
    return twoFactor.admits(actor) || !(await hasSecondFactor(store.database, actor.id));
  }

  async setPassword(actor: Actor, password: string): Promise<void> {
    const { store, hasher, clock } = this.dependencies;
    const owner = await findUserByLogin(store.database, actor.name);
    checkPassword(password, { username: actor.name, email: owner?.email ?? null });
    const hash = await hasher.hash(password);
    const secrets = [storePassword(actor.id, hash, clock.now())];
    await this.changeFactors(actor, (person) => ({ type: 'SetPassword', data: person }), secrets);
  }

  async removePassword(actor: Actor): Promise<void> {
    const unusable = await this.listUnusableIdentities(actor.id);
    const command: MethodsChange['command'] = (person) => ({ type: 'RemovePassword', data: { ...person, unusable } });
    await this.changeFactors(actor, command, [deletePassword(actor.id)]);
  }

  startTotp(actor: Actor): TotpSetup {
    return this.describeSetup(actor, createTotpSecret());
  }

  /** Returns new recovery codes, or the same setup if the code is wrong. Throws if the setup took too long. */
  async enableTotp(
    actor: Actor,
    { token, code }: { readonly token: string; readonly code: string },
  ): Promise<{ readonly codes: readonly string[] } | { readonly again: TotpSetup }> {
    const { tokens, clock, totpEnvelope } = this.dependencies;
    const setup = tokens.read('totp', token, setupContent);
    if (setup?.user !== actor.id) throw unprocessable('The page was open for too long. Please start again.');
    const { secret } = setup;
    const step = findTotpStep(secret, code, clock.now());
    if (step === null) return { again: this.describeSetup(actor, secret) };
    const codes = createRecoveryCodes();
    const secrets = [
      storeTotpSecret(totpEnvelope, actor.id, { secret, step }),
      ...replaceRecoveryCodes(actor.id, codes),
    ];
    const count = codes.length;
    await this.changeFactors(actor, (person) => ({ type: 'EnableTotp', data: { ...person, count } }), secrets);
    return { codes };
  }

  disableTotp(actor: Actor): Promise<void> {
    return this.changeFactors(actor, (person) => ({ type: 'DisableTotp', data: person }), deleteTotp(actor.id));
  }

  async createRecoveryCodes(actor: Actor): Promise<readonly string[]> {
    const codes = createRecoveryCodes();
    const count = codes.length;
    const secrets = replaceRecoveryCodes(actor.id, codes);
    await this.changeFactors(actor, (person) => ({ type: 'CreateRecoveryCodes', data: { ...person, count } }), secrets);
    return codes;
  }

  async addPasskey(actor: Actor, { name, ...answer }: PasskeyAnswer & { readonly name: string }): Promise<void> {
    const { ceremonies, ids, clock } = this.dependencies;
    const label = checkPasskeyName(name);
    const verified = await ceremonies.verifyRegistration(actor.id, answer);
    if (!verified) throw unprocessable('The passkey was not accepted. Please try again.');
    const passkey = ids.next('pk');
    const secrets = [insertPasskey({ ...verified, id: passkey, name: label }, clock.now())];
    await this.changeFactors(actor, (person) => ({ type: 'AddPasskey', data: { ...person, passkey } }), secrets);
  }

  async renamePasskey(actor: Actor, passkey: string, name: string): Promise<void> {
    await this.bus.execute(
      new ChangeSignInMethods('RecordSignIn', {
        user: actor.id,
        command: (person) => ({ type: 'RenamePasskey', data: { ...person, passkey } }),
        createContext: () => createEventContext(actor),
        secrets: [renamePasskey(passkey, actor.id, checkPasskeyName(name))],
      }),
    );
  }

  async removePasskey(actor: Actor, passkey: string): Promise<void> {
    const data = { passkey, unusable: await this.listUnusableIdentities(actor.id) };
    const command: MethodsChange['command'] = (person) => ({ type: 'RemovePasskey', data: { ...person, ...data } });
    await this.changeFactors(actor, command, [deletePasskey(passkey, actor.id)]);
  }

  /** Links the account with an identity that the person has just proved. Does nothing if it is linked already. */
  async linkIdentity(actor: Actor, proved: ProviderSubject & { readonly provider: string }): Promise<void> {
    const { store, ids } = this.dependencies;
    const owner = await findUserByIdentity(store.database, proved);
    if (owner === actor.id) return;
    if (owner !== undefined) throw createLinkedElsewhereRefusal();
    const identity = { ...proved, identity: ids.next('lid') };
    const command: MethodsChange['command'] = (person) => ({ type: 'LinkIdentity', data: { ...person, ...identity } });
    await this.changeFactors(actor, command, []).catch((error: unknown) => {
      throw getViolatedConstraint(error) === IDENTITY_RACE ? createLinkedElsewhereRefusal() : error;
    });
  }

  async unlinkIdentity(actor: Actor, identity: string): Promise<void> {
    const data = { identity, unusable: await this.listUnusableIdentities(actor.id) };
    await this.changeFactors(actor, (person) => ({ type: 'UnlinkIdentity', data: { ...person, ...data } }), []);
  }

  /**
   * For site administrators: removes one-time codes, recovery codes and passkeys of a user, and ends all sessions. Throws
   * `unprocessable` if the user could not sign in any more.
   */
  async disableTwoFactor(actor: Actor, user: string): Promise<void> {
    const { database } = this.dependencies.store;
    const unusable = await this.listUnusableIdentities(user);
    await this.bus.execute(
      new ChangeSignInMethods('ChangeFactors', {
        user,
        exceptSession: null,
        command: (person) => ({ type: 'DisableTwoFactor', data: { ...person, unusable } }),
        createContext: () => createEventContext(actor),
        secrets: [...deleteTotp(user), deletePasskeys(user)],
        authorize: async () => {
          await verifyCurrentAccess(database, actor);
          requirePermission(actor, 'disable-two-factor', SITE_SCOPE);
        },
      }),
    );
  }

  private async listUnusableIdentities(id: string): Promise<readonly string[]> {
    const { store, options } = this.dependencies;
    const identities = await listLinkedIdentities(store.database, id);
    if (identities.length === 0) return [];
    const issuers = (await options.listOptions()).map(({ issuer }) => issuer);
    return identities.filter(({ issuer }) => !issuers.includes(issuer)).map((identity) => identity.id);
  }

  private describeSetup(actor: Actor, secret: string): TotpSetup {
    const token = this.dependencies.tokens.sign('totp', { user: actor.id, secret }, SETUP_MS);
    return { secret, token, address: formatTotpAddress(secret, actor.name) };
  }

  private async changeFactors(actor: Actor, command: MethodsChange['command'], secrets: readonly Sql[]): Promise<void> {
    const createContext = () => createEventContext(actor);
    const change = { user: actor.id, exceptSession: actor.token, command, createContext, secrets };
    await this.bus.execute(new ChangeSignInMethods('ChangeFactors', change));
  }
}

const createLinkedElsewhereRefusal = (): Refusal =>
  unprocessable('This account at the identity provider is linked with another account here');

const checkPasskeyName = (text: string): string => {
  const name = text.trim();
  if (name === '' || name.length > PASSKEY_NAME_MAX) {
    throw unprocessable(`The name of the passkey must have 1 to ${PASSKEY_NAME_MAX} characters, got ${name.length}`);
  }
  return name;
};
