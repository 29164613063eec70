import { Refusal } from '#platform/kernel';
import type { Identity } from '../callers/actor.js';

/** The rule of the site about second factors. Organizations can have a rule of their own (`collaborator-auth-policy`). */
export class TwoFactorRule {
  constructor(private readonly isRequired: boolean) {}

  /**
   * Returns whether the site admits the caller. It requires a second factor of people, and of tokens that their sessions
   * create. Like organizations, it admits tokens without an assurance: operators or earlier versions have created them.
   */
  admits({ kind, assurance }: Pick<Identity, 'kind' | 'assurance'>): boolean {
    if (!this.isRequired || kind !== 'user' || assurance === null) return true;
    return assurance === 'two-factor' || assurance === 'oidc-two-factor';
  }
}

/** Returns the refusal of a caller without a second factor. */
export const createTwoFactorRefusal = ({ credential }: Pick<Identity, 'credential'>): Refusal =>
  new Refusal('forbidden', [
    {
      detail:
        credential === 'session'
          ? 'This site requires a second factor. Open /account in a browser to set one up, and sign in with it.'
          : 'This site requires a second factor, and this token was created without one. Sign in with a second factor, and ' +
            'create a new token at /app/~account/tokens.',
      meta: { required: 'second-factor' },
    },
  ]);
