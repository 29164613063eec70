import { describe, expect, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { DEFAULT_SETTINGS } from '../settings/settings.js';
import type { StateSummary } from '../workspaces/state-head.js';
import { workspace, type WorkspaceEvent } from '../workspaces/workspace.js';

const { given } = specify(workspace);

const alice = { type: 'users', id: 'user-alice', name: 'alice' } as const;
const owners = { type: 'teams', id: 'team-owners', name: 'owners' } as const;
const createdEvent: WorkspaceEvent = {
  type: 'WorkspaceCreated',
  data: { project: 'prj-1', name: 'one', settings: DEFAULT_SETTINGS, tags: [] },
};
const lockedBy = (holder: typeof alice | typeof owners, reason = ''): WorkspaceEvent => ({
  type: 'WorkspaceLocked',
  data: { holder, reason },
});
const unlockedFrom = (holder: typeof alice, forced: boolean): WorkspaceEvent => ({
  type: 'WorkspaceUnlocked',
  data: { holder, forced },
});
const created: WorkspaceEvent = {
  type: 'StateVersionCreated',
  data: { id: 'sv-1', serial: 1, lineage: null, md5: 'a', createdBy: alice, run: null, rollbackOf: null },
};
const facts: StateSummary = {
  format: 4,
  lineage: null,
  size: 9,
  terraformVersion: null,
  resources: 3,
  providers: {},
  modules: {},
  outputs: [],
};
const finalized: WorkspaceEvent = { type: 'StateVersionFinalized', data: { id: 'sv-1', ...facts } };
const discarded: WorkspaceEvent = { type: 'StateVersionDiscarded', data: { id: 'sv-1' } };

const lockedSince = '2026-11-21T10:00:00.000Z';
const lock = (holder: typeof alice | typeof owners) =>
  ({
    type: 'LockWorkspace',
    data: { holder, reason: 'because', expiresAt: null, lockedSince, isHolderHidden: false },
  }) as const;
const unlock = (holder: typeof alice | typeof owners) =>
  ({ type: 'UnlockWorkspace', data: { holder, lockedSince, isHolderHidden: false } }) as const;
const end = '2026-11-21T10:05:00.000Z';
const leased: WorkspaceEvent = { type: 'WorkspaceLockLeased', data: { expiresAt: end } };
const renew = (holder: typeof alice | typeof owners) =>
  ({ type: 'RenewLock', data: { holder, expiresAt: end, lockedSince, isHolderHidden: false } }) as const;
const expire = (now: string) => ({ type: 'ExpireLock', data: { now } }) as const;
const expired: WorkspaceEvent = { type: 'WorkspaceLockExpired', data: { holder: alice } };
const forceUnlock = { type: 'ForceUnlockWorkspace', data: {} } as const;

describe('the lock of a workspace', () => {
  it('goes to the first caller', () =>
    given(createdEvent)
      .when(lock(alice))
      .yields({ type: 'WorkspaceLocked', data: { holder: alice, reason: 'because' } }));

  it('is refused while it is held, even to its holder', () =>
    given(createdEvent, lockedBy(alice)).when(lock(alice)).refuses('conflict', 'already locked by User alice'));

  it('gets another reason from its holder if an import holds it, and from nobody else', () => {
    const relock = (holder: typeof alice | typeof owners) =>
      ({ type: 'LockWorkspace', data: { ...lock(holder).data, isImported: true } }) as const;
    given(createdEvent, lockedBy(alice))
      .when(relock(alice))
      .yields({ type: 'WorkspaceLocked', data: { holder: alice, reason: 'because' } });
    given(createdEvent, lockedBy(alice)).when(relock(owners)).refuses('conflict', 'already locked by User alice');
  });

  describe('a refused lock', () => {
    const since = 'by User alice since 2026-11-21T10:00:00.000Z';
    const network = 'applying the network';

    it('names the holder, the time and the reason, after the words that clients look for', () =>
      given(createdEvent, lockedBy(alice, network))
        .when(lock(owners))
        .refuses('conflict', `Unable to lock workspace. The workspace is already locked ${since}: ${network}`));

    it('has the same text for a refused unlock', () =>
      given(createdEvent, lockedBy(alice, network))
        .when(unlock(owners))
        .refuses('conflict', `Unable to unlock workspace. The workspace is locked ${since}: ${network}`));

    it('names no reason if there is none', () =>
      given(createdEvent, lockedBy(alice))
        .when(lock(owners))
        .refuses('conflict', new RegExp(`${since}$`)));

    it('leaves out a reason that clients would mistake for those words', () =>
      given(createdEvent, lockedBy(alice, 'the database is locked by Run 7'))
        .when(unlock(owners))
        .refuses('conflict', new RegExp(`${since}$`)));

    it('has the same facts as data', () => {
      const command = unlock(owners);
      expect(() =>
        workspace.decide.UnlockWorkspace(command.data, given(createdEvent, lockedBy(alice, 'for a while')).state),
      ).toThrow(
        expect.objectContaining({
          problems: [
            expect.objectContaining({ meta: { lock: { holder: alice, since: lockedSince, reason: 'for a while' } } }),
          ],
        }),
      );
    });
  });

  it('does not name a team that the caller may not see', () => {
    const { type, data } = unlock(alice);
    given(createdEvent, lockedBy(owners))
      .when({ type, data: { ...data, isHolderHidden: true } })
      .refuses('conflict', /^Unable to unlock workspace. The workspace is locked by Team \(not visible to you\) since/);
  });

  it('is released by its holder', () =>
    given(createdEvent, lockedBy(alice)).when(unlock(alice)).yields(unlockedFrom(alice, false)));

  it('is not released by another caller, who gets the holder’s kind and name', () =>
    given(createdEvent, lockedBy(owners)).when(unlock(alice)).refuses('conflict', 'is locked by Team owners'));

  it('is refused a second release, with a text that clients do not mistake for a lock of another holder', () =>
    given(createdEvent)
      .when(unlock(alice))
      .refuses('conflict', /^(?!.*is locked by).*not locked/));

  it('is released by force, and the event records the force', () =>
    given(createdEvent, lockedBy(alice)).when(forceUnlock).yields(unlockedFrom(alice, true)));

  it('cannot be released by force while the workspace is unlocked', () =>
    given(createdEvent).when(forceUnlock).refuses('conflict', 'not locked'));

  it('is not released while the latest state is being uploaded', () =>
    given(createdEvent, lockedBy(alice), created)
      .when(unlock(alice))
      .refuses('unavailable', 'latest state version is still pending'));

  it('makes the uploaded state current when it is released', () =>
    given(createdEvent, lockedBy(alice), created, finalized)
      .when(unlock(alice))
      .yields({ type: 'StateVersionPromoted', data: { id: 'sv-1', resources: 3 } }, unlockedFrom(alice, false)));

  it('is released by force during an upload, which is discarded', () =>
    given(createdEvent, lockedBy(alice), created).when(forceUnlock).yields(discarded, unlockedFrom(alice, true)));

  it('is free after a forced release: the next holder can unlock the workspace', () =>
    given(createdEvent, lockedBy(alice), created, discarded, unlockedFrom(alice, true), lockedBy(alice))
      .when(unlock(alice))
      .yields(unlockedFrom(alice, false)));

  describe('with a lease', () => {
    it('has an end from the beginning', () => {
      const { type, data } = lock(alice);
      given(createdEvent)
        .when({ type, data: { ...data, expiresAt: end } })
        .yields({ type: 'WorkspaceLocked', data: { holder: alice, reason: 'because' } }, leased);
    });

    it('is renewed by its holder', () =>
      given(createdEvent, lockedBy(alice), leased).when(renew(alice)).yields(leased));

    it('is not given to a lock that has none, such as that of terraform', () =>
      given(createdEvent, lockedBy(alice)).when(renew(alice)).refuses('conflict', 'It has no end'));

    it('is not renewed by another caller', () =>
      given(createdEvent, lockedBy(alice), leased)
        .when(renew(owners))
        .refuses('conflict', 'Unable to renew the lock. The workspace is locked by User alice'));

    it('is not renewed after the unlock', () =>
      given(createdEvent, lockedBy(alice), leased, unlockedFrom(alice, false))
        .when(renew(alice))
        .refuses('conflict', 'Unable to renew the lock. The workspace is not locked'));

    it('ends at its time, and not before', () => {
      given(createdEvent, lockedBy(alice), leased).when(expire('2026-11-21T10:04:59.999Z')).yields();
      given(createdEvent, lockedBy(alice), leased).when(expire(end)).yields(expired);
    });

    it('ends at the time of its renewal', () =>
      given(createdEvent, lockedBy(alice), leased, {
        type: 'WorkspaceLockLeased',
        data: { expiresAt: '2026-11-21T11:00:00.000Z' },
      })
        .when(expire(end))
        .yields());

    it('does not end the next lock', () =>
      given(createdEvent, lockedBy(alice), leased, unlockedFrom(alice, false), lockedBy(alice))
        .when(expire(end))
        .yields());

    it('makes the uploaded state current when it ends', () =>
      given(createdEvent, lockedBy(alice), leased, created, finalized)
        .when(expire(end))
        .yields({ type: 'StateVersionPromoted', data: { id: 'sv-1', resources: 3 } }, expired));

    it('discards an upload that has not arrived when it ends', () =>
      given(createdEvent, lockedBy(alice), leased, created).when(expire(end)).yields(discarded, expired));

    it('leaves the workspace free', () =>
      given(createdEvent, lockedBy(alice), leased, expired)
        .when(lock(owners))
        .yields({ type: 'WorkspaceLocked', data: { holder: owners, reason: 'because' } }));
  });
});
