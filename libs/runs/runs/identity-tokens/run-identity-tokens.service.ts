import { Injectable } from '@nestjs/common';
import { IdentityTokens } from '#identity/oidc-issuer';
import { getTimeLimitSeconds } from '#organizations/general-settings';
import { decideWrite, EventStore } from '#storage/event-store';
import { createEventContext, requirePermission, type Actor } from '#api/access';
import type { RunEvent } from '../runs/run-event.js';
import { run } from '../runs/run.js';
import { buildRunClaims } from './run-identity.js';
import { loadRunForIdentity } from './run-identity-tokens.queries.js';

type IdentityTokenRequest = {
  readonly id: string;
  readonly fence: number;
  readonly audience: string;
  readonly actor: Actor;
};

/** Issues the tokens with which a run authenticates at clouds. */
@Injectable()
export class RunIdentityTokens {
  constructor(
    private readonly store: EventStore,
    private readonly tokens: IdentityTokens,
  ) {}

  /**
   * Returns a token of the claimed phase for one audience, which is valid as long as the phase may take. Throws a conflict for
   * an old fence.
   */
  issue({ id, fence, audience, actor }: IdentityTokenRequest): Promise<string> {
    return this.store.retryOnConflict(async () => {
      const row = await loadRunForIdentity(this.store.database, actor, id);
      requirePermission(actor, 'execute-run', row);
      const loaded = await this.store.restore(id, run, row.snapshot);
      const command = { type: 'IssueIdentityToken', data: { fence, audience } } as const;
      const write = decideWrite(run, loaded, row.organization, command);
      const [issued] = write.events as readonly Extract<RunEvent, { type: 'RunIdentityTokenIssued' }>[];
      if (!issued) throw new Error('the command IssueIdentityToken has yielded no event');
      const { phase } = issued.data;
      // Signed first, so that the trail has no token that nobody has.
      const seconds = getTimeLimitSeconds(phase, row.timeLimits[phase]);
      const token = await this.tokens.sign(buildRunClaims(row, phase), audience, seconds);
      await this.store.append([write], createEventContext(actor));
      return token;
    });
  }
}
