import { createSystemContext } from '#api/access';
import { computeTextFingerprint, type EncryptionKeys } from '#platform/encryption';
import type { EventStore } from '#storage/event-store';
import type { Clock, EventContext, Ids } from '#platform/kernel';
import { countRefusedSignIn } from '../sign-in.metrics.js';
import { countRefusal, type CountedRefusal } from './refused-sign-ins.queries.js';
import type { SignInRefusal, SignInRefused } from './refused-sign-ins.js';

const STREAM = 'sign-ins';
const FINGERPRINT_PURPOSE = 'names of refused sign-ins';

type RecorderDependencies = {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly keys: EncryptionKeys;
};

/** A refused sign-in. `name`: the typed name in lower case. Only its fingerprint is recorded. */
export type RefusedSignIn = Pick<SignInRefusal, 'reason'> &
  Partial<Pick<SignInRefusal, 'user' | 'provider'>> & { readonly name?: string };

/**
 * Records refused sign-ins in the audit trail of the site. Strangers can cause any number of them, so only some in each
 * minute get an event, and each event says how many were omitted before it (ADR 73).
 */
export class RefusedSignInRecorder {
  constructor(private readonly dependencies: RecorderDependencies) {}

  async record(
    { reason, user = null, provider = null, name }: RefusedSignIn,
    request: EventContext['request'],
  ): Promise<void> {
    const { store, clock, ids, keys } = this.dependencies;
    countRefusedSignIn(reason);
    const counted = await store.database.row<CountedRefusal>(countRefusal(reason, clock.now()));
    if (!counted?.isRecorded) return;
    const nameFingerprint = name === undefined ? null : computeTextFingerprint(keys.writing, FINGERPRINT_PURPOSE, name);
    const event: SignInRefused = {
      type: 'SignInRefused',
      data: { reason, user, provider, nameFingerprint, omitted: counted.omitted },
    };
    const context = { ...createSystemContext('sign-in', request.id ?? ids.uuid()), request };
    const write = { stream: STREAM, organization: null, writer: null, events: [{ ...event, id: ids.uuid(), context }] };
    await store.retryOnConflict(() => store.appendOnce([write]));
  }
}
