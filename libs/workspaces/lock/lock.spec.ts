import { describe, expect, it } from '@jest/globals';
import { specify } from '#kernel/spec';
import { DEFAULT_SETTINGS } from '../settings/settings.js';
import type { StateSummary } from '../workspaces/state-head.js';
import { workspace, type WorkspaceEvent } from '../workspaces/workspace.js';

const { given } = specify(workspace);

const alice = { type: 'users', id: 'user-alice', name: 'alice' } as const;
const owners = { type: 'teams', id: 'team-owners', name: 'owners' } as const;
const born: WorkspaceEvent = {
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
const facts: StateSummary = { size: 9, terraformVersion: null, resources: 3, providers: {}, modules: {}, outputs: [] };
const finalized: WorkspaceEvent = { type: 'StateVersionFinalized', data: { id: 'sv-1', ...facts } };
const discarded: WorkspaceEvent = { type: 'StateVersionDiscarded', data: { id: 'sv-1' } };

const lockedSince = '2026-11-21T10:00:00.000Z';
const lock = (holder: typeof alice | typeof owners) =>
  ({ type: 'LockWorkspace', data: { holder, reason: 'because', lockedSince, isHolderHidden: false } }) as const;
const unlock = (holder: typeof alice | typeof owners) =>
  ({ type: 'UnlockWorkspace', data: { holder, lockedSince, isHolderHidden: false } }) as const;
const forceUnlock = { type: 'ForceUnlockWorkspace', data: {} } as const;

describe('the lock of a workspace', () => {
  it('goes to whoever asks first', () =>
    given(born)
      .when(lock(alice))
      .yields({ type: 'WorkspaceLocked', data: { holder: alice, reason: 'because' } }));

  it('is refused while somebody holds it, even to the holder', () =>
    given(born, lockedBy(alice)).when(lock(alice)).refuses('conflict', 'already locked by User alice'));

  describe('tells who is refused', () => {
    const since = 'by User alice since 2026-11-21T10:00:00.000Z';
    const network = 'applying the network';

    it('who holds it, since when and why, after the words that clients look for', () =>
      given(born, lockedBy(alice, network))
        .when(lock(owners))
        .refuses('conflict', `Unable to lock workspace. The workspace is already locked ${since}: ${network}`));

    it('the same where they would unlock it', () =>
      given(born, lockedBy(alice, network))
        .when(unlock(owners))
        .refuses('conflict', `Unable to unlock workspace. The workspace is locked ${since}: ${network}`));

    it('no reason where none was given', () =>
      given(born, lockedBy(alice))
        .when(lock(owners))
        .refuses('conflict', new RegExp(`${since}$`)));

    it('no reason that would be taken for those words', () =>
      given(born, lockedBy(alice, 'the database is locked by Run 7'))
        .when(unlock(owners))
        .refuses('conflict', new RegExp(`${since}$`)));

    it('the same as data', () => {
      const command = unlock(owners);
      expect(() =>
        workspace.decide.UnlockWorkspace(command.data, given(born, lockedBy(alice, 'for a while')).state),
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
    given(born, lockedBy(owners))
      .when({ type, data: { ...data, isHolderHidden: true } })
      .refuses('conflict', /^Unable to unlock workspace. The workspace is locked by Team \(not visible to you\) since/);
  });

  it('opens for its holder', () => given(born, lockedBy(alice)).when(unlock(alice)).yields(unlockedFrom(alice, false)));

  it('stays for another, who is told the holder’s kind and name', () =>
    given(born, lockedBy(owners)).when(unlock(alice)).refuses('conflict', 'is locked by Team owners'));

  it('cannot be opened twice, and the refusal does not look like somebody else’s lock', () =>
    given(born)
      .when(unlock(alice))
      .refuses('conflict', /^(?!.*is locked by).*not locked/));

  it('opens for force, and says so', () =>
    given(born, lockedBy(alice)).when(forceUnlock).yields(unlockedFrom(alice, true)));

  it('cannot be forced open when it is open', () => given(born).when(forceUnlock).refuses('conflict', 'not locked'));

  it('waits while the latest state is being uploaded', () =>
    given(born, lockedBy(alice), created)
      .when(unlock(alice))
      .refuses('unavailable', 'latest state version is still pending'));

  it('makes the uploaded state current when it opens', () =>
    given(born, lockedBy(alice), created, finalized)
      .when(unlock(alice))
      .yields({ type: 'StateVersionPromoted', data: { id: 'sv-1', resources: 3 } }, unlockedFrom(alice, false)));

  it('opens for force although an upload is pending, and discards what never came', () =>
    given(born, lockedBy(alice), created).when(forceUnlock).yields(discarded, unlockedFrom(alice, true)));

  it('is free for good after that: the next holder can unlock it', () =>
    given(born, lockedBy(alice), created, discarded, unlockedFrom(alice, true), lockedBy(alice))
      .when(unlock(alice))
      .yields(unlockedFrom(alice, false)));
});
