import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decide, fold, Refusal } from '#platform/kernel';
import { specify } from '#platform/kernel/spec';
import { DEFAULT_SETTINGS } from '../settings/settings.js';
import type { StateSummary } from './state-head.js';
import { workspace, type WorkspaceCommand, type WorkspaceEvent } from './workspace.js';

const { given } = specify(workspace);

const alice = { type: 'users', id: 'user-alice', name: 'alice' } as const;
const bob = { type: 'users', id: 'user-bob', name: 'bob' } as const;

const LINEAGE = '3c8a1b0e-5d7c-0f5e-9a51-6f5f1f0e7c11';

const createdEvent: WorkspaceEvent = {
  type: 'WorkspaceCreated',
  data: { project: 'prj-1', name: 'net', settings: DEFAULT_SETTINGS, tags: [] },
};
const lockedBy = (holder: typeof alice | typeof bob): WorkspaceEvent => ({
  type: 'WorkspaceLocked',
  data: { holder, reason: '' },
});
const unlocked = (forced = false): WorkspaceEvent => ({ type: 'WorkspaceUnlocked', data: { holder: alice, forced } });

const facts = (resources = 2, lineage: string | null = LINEAGE): StateSummary => ({
  format: 4,
  lineage,
  size: 100,
  terraformVersion: '1.13.4',
  resources,
  providers: {},
  modules: {},
  outputs: [],
});

type Version = { readonly serial: number; readonly lineage?: string | null; readonly md5?: string };

const versionOf = (id: string, { serial, lineage = LINEAGE, md5 = `md5 of ${serial}` }: Version) => ({
  id,
  serial,
  lineage,
  md5,
  createdBy: alice,
  run: null,
  rollbackOf: null,
});
const created = (id: string, version: Version): WorkspaceEvent => ({
  type: 'StateVersionCreated',
  data: versionOf(id, version),
});
const finalized = (id: string, resources = 2): WorkspaceEvent => ({
  type: 'StateVersionFinalized',
  data: { id, ...facts(resources) },
});
const promoted = (id: string, resources = 2): WorkspaceEvent => ({
  type: 'StateVersionPromoted',
  data: { id, resources },
});
const errored = (id: string): WorkspaceEvent => ({ type: 'StateVersionErrored', data: { id } });
const fail = (id: string): WorkspaceCommand => ({ type: 'FailStateVersion', data: { id } });
const discarded = (id: string): WorkspaceEvent => ({ type: 'StateVersionDiscarded', data: { id } });

type Create = Extract<WorkspaceCommand, { type: 'CreateStateVersion' }>['data'];

const create = (id: string, version: Version, more: Partial<Create> = {}): WorkspaceCommand => ({
  type: 'CreateStateVersion',
  data: { ...versionOf(id, version), force: false, facts: null, isImported: false, ...more },
});
const finalize = (id: string, resources = 2): WorkspaceCommand => ({
  type: 'FinalizeStateVersion',
  data: { id, facts: facts(resources) },
});
const unlock = (holder = alice): WorkspaceCommand => ({
  type: 'UnlockWorkspace',
  data: { holder, lockedSince: null, isHolderHidden: false },
});
const FORCE_UNLOCK: WorkspaceCommand = { type: 'ForceUnlockWorkspace', data: {} };

const locked = [createdEvent, lockedBy(alice)] as const;
const withCurrent = [
  ...locked,
  created('sv-5', { serial: 5 }),
  finalized('sv-5'),
  promoted('sv-5'),
  unlocked(),
  lockedBy(alice),
] as const;

describe('creating a state version', () => {
  it('requires an existing workspace', () => {
    given()
      .when(create('sv-1', { serial: 0 }))
      .refuses('not-found', '');
  });

  it('requires a locked workspace', () => {
    given(createdEvent)
      .when(create('sv-1', { serial: 0 }))
      .refuses('conflict', /Lock the workspace first/);
  });

  it('is refused to callers other than the holder of the lock, and names the holder', () => {
    given(createdEvent, lockedBy(bob))
      .when(create('sv-1', { serial: 0 }))
      .refuses('conflict', /is locked by User bob/);
  });

  it('yields a pending version if the file is uploaded later', () => {
    given(...locked)
      .when(create('sv-1', { serial: 0 }))
      .yields(created('sv-1', { serial: 0 }));
  });

  it('yields a finalized version if the request contains the file', () => {
    given(...locked)
      .when(create('sv-1', { serial: 0 }, { facts: facts() }))
      .yields(created('sv-1', { serial: 0 }), finalized('sv-1'));
  });

  it('makes the version current at once if it is imported, and needs a lock too', () => {
    const imported = create('sv-1', { serial: 0 }, { facts: facts(), isImported: true });
    given(...locked)
      .when(imported)
      .yields(created('sv-1', { serial: 0 }), finalized('sv-1'), promoted('sv-1'));
    given(createdEvent).when(imported).refuses('conflict', 'Lock the workspace first');
    given(createdEvent, lockedBy(bob))
      .when(imported)
      .refuses('conflict', /is locked by User bob/);
  });

  it('accepts any serial above the latest', () => {
    given(...withCurrent)
      .when(create('sv-9', { serial: 900 }))
      .yields(created('sv-9', { serial: 900 }));
  });

  it.each([5, 4, 0])('refuses serial %i after serial 5', (serial) => {
    given(...withCurrent)
      .when(create('sv-x', { serial, md5: 'other' }))
      .refuses('conflict', `serial ${serial} is not above the latest serial, 5`);
  });

  it('discards a pending version with any serial, because no other client could finish it', () => {
    for (const serial of [7, 8, 9]) {
      given(...withCurrent, created('sv-8', { serial: 8 }))
        .when(create('sv-x', { serial, md5: 'other' }))
        .yields(discarded('sv-8'), created('sv-x', { serial, md5: 'other' }));
    }
  });

  it('compares serials with the latest finalized version, not with a pending one', () => {
    given(...withCurrent, created('sv-8', { serial: 8 }))
      .when(create('sv-x', { serial: 5, md5: 'other' }))
      .refuses('conflict', /not above the latest serial, 5/);
    given(...locked, created('sv-9', { serial: 9 }), discarded('sv-9'))
      .when(create('sv-0', { serial: 0 }))
      .yields(created('sv-0', { serial: 0 }));
  });

  it('may contain its file if it replaces a pending version', () => {
    given(...locked, created('sv-1', { serial: 1 }))
      .when(create('sv-2', { serial: 2 }, { facts: facts() }))
      .yields(discarded('sv-1'), created('sv-2', { serial: 2 }), finalized('sv-2'));
  });

  it('refuses another lineage with any serial', () => {
    given(...withCurrent)
      .when(create('sv-x', { serial: 6, lineage: 'other' }))
      .refuses('conflict', /lineage other is not that of this workspace/);
  });

  it('accepts a version without a lineage', () => {
    given(...withCurrent)
      .when(create('sv-6', { serial: 6, lineage: null }))
      .yields(created('sv-6', { serial: 6, lineage: null }));
  });

  it('accepts a lower serial and another lineage by force', () => {
    given(...withCurrent)
      .when(create('sv-1', { serial: 1, lineage: 'other' }, { force: true }))
      .yields(created('sv-1', { serial: 1, lineage: 'other' }));
  });

  it('is refused without the lock, and to callers other than its holder, even with `force`', () => {
    given(createdEvent)
      .when(create('sv-1', { serial: 1 }, { force: true }))
      .refuses('conflict', /Lock the workspace/);
    given(createdEvent, lockedBy(bob))
      .when(create('sv-1', { serial: 1 }, { force: true }))
      .refuses('conflict', /locked by User bob/);
  });
});

describe('a state version whose file is refused or never uploaded', () => {
  const pending = [...withCurrent, created('sv-6', { serial: 6 })] as const;

  it('ends as errored, and the workspace can be unlocked with its previous state', () => {
    given(...pending)
      .when(fail('sv-6'))
      .yields(errored('sv-6'));
    given(...pending, errored('sv-6'))
      .when(unlock())
      .yields(unlocked());
  });

  it('does not end as errored a second time, or after it was finalized', () => {
    given(...pending, errored('sv-6'))
      .when(fail('sv-6'))
      .yields();
    given(...pending, finalized('sv-6'))
      .when(fail('sv-6'))
      .yields();
  });

  it('allows the next version to use its serial', () => {
    given(...pending, errored('sv-6'))
      .when(create('sv-7', { serial: 6 }))
      .yields(created('sv-7', { serial: 6 }));
  });
});

describe('the lineage of a file that differs from the declared one', () => {
  const labelled = [
    ...locked,
    created('sv-1', { serial: 1, lineage: 'label' }),
    { type: 'StateVersionFinalized', data: { id: 'sv-1', ...facts(2, 'of the file') } },
  ] as const;

  it('is required of the next version', () => {
    given(...labelled)
      .when(create('sv-2', { serial: 2, lineage: 'of the file' }))
      .yields(created('sv-2', { serial: 2, lineage: 'of the file' }));
    given(...labelled)
      .when(create('sv-2', { serial: 2, lineage: 'label' }))
      .refuses('conflict', "The state's lineage label is not that of this workspace, of the file");
  });
});

describe('rolling back', () => {
  const rollback = (id: string, version: Version) => create(id, version, { rollbackOf: 'sv-5', facts: facts() });
  const rolledBack = (id: string, version: Version): WorkspaceEvent => ({
    type: 'StateVersionCreated',
    data: { ...versionOf(id, version), rollbackOf: 'sv-5' },
  });

  it('yields a version that names the restored one', () => {
    given(...withCurrent)
      .when(rollback('sv-6', { serial: 6 }))
      .yields(rolledBack('sv-6', { serial: 6 }), finalized('sv-6'));
  });

  it('is refused to callers other than the holder of the lock', () => {
    given(...withCurrent, unlocked())
      .when(rollback('sv-6', { serial: 6 }))
      .refuses('conflict', /Lock the workspace/);
    given(...withCurrent, unlocked(), lockedBy(bob))
      .when(rollback('sv-6', { serial: 6 }))
      .refuses('conflict', /locked by User bob/);
  });

  it('requires a serial above the latest, because another version may have been added, but accepts any lineage', () => {
    given(...withCurrent)
      .when(rollback('sv-6', { serial: 5, md5: 'other' }))
      .refuses('conflict', /not above the latest serial, 5/);
    given(...withCurrent)
      .when(rollback('sv-6', { serial: 6, lineage: 'other' }))
      .yields(rolledBack('sv-6', { serial: 6, lineage: 'other' }), finalized('sv-6'));
  });

  it('makes the version current at the unlock', () => {
    given(...withCurrent, rolledBack('sv-6', { serial: 6 }), finalized('sv-6', 4))
      .when(unlock())
      .yields(promoted('sv-6', 4), unlocked());
  });
});

describe('the content of the latest version, sent again,', () => {
  const withFive = [...locked, created('sv-5', { serial: 5 }), finalized('sv-5')] as const;

  it('yields nothing within one lock', () => {
    given(...withFive)
      .when(create('sv-again', { serial: 5 }))
      .yields();
  });

  it('yields nothing while that version is pending, even if the request contains the file', () => {
    given(...locked, created('sv-1', { serial: 0 }))
      .when(create('sv-again', { serial: 0 }, { facts: facts() }))
      .yields();
  });

  it('yields a new version under a new lock', () => {
    given(...withCurrent)
      .when(create('sv-again', { serial: 5 }, { facts: facts() }))
      .yields(created('sv-again', { serial: 5 }), finalized('sv-again'));
    given(...withCurrent)
      .when(create('sv-again', { serial: 5 }))
      .yields(created('sv-again', { serial: 5 }));
  });

  it('yields a new version under a lock that follows a forced unlock', () => {
    given(...withFive, promoted('sv-5'), unlocked(true), lockedBy(alice))
      .when(create('sv-again', { serial: 5 }))
      .yields(created('sv-again', { serial: 5 }));
  });

  it('yields nothing if it has already been sent within the new lock', () => {
    given(...withCurrent, created('sv-again', { serial: 5 }))
      .when(create('sv-third', { serial: 5 }))
      .yields();
  });

  it('is refused if another caller holds the lock', () => {
    given(createdEvent, lockedBy(bob), created('sv-1', { serial: 0 }))
      .when(create('sv-again', { serial: 0 }))
      .refuses('conflict', /locked by User bob/);
  });

  it('is refused if only the serial is the same', () => {
    given(...withCurrent)
      .when(create('sv-x', { serial: 5, md5: 'other' }))
      .refuses('conflict', /serial/);
  });
});

describe('uploading the file', () => {
  it('finalizes a pending version', () => {
    given(...locked, created('sv-1', { serial: 0 }))
      .when(finalize('sv-1'))
      .yields(finalized('sv-1'));
  });

  it('changes nothing the second time, because the content is proved to be the same', () => {
    given(...locked, created('sv-1', { serial: 0 }), finalized('sv-1'))
      .when(finalize('sv-1'))
      .yields();
  });

  it('is refused once the version is discarded', () => {
    given(...withCurrent, created('sv-6', { serial: 6 }), discarded('sv-6'), unlocked(true))
      .when(finalize('sv-6'))
      .refuses('not-found', '');
  });

  it('is refused once there is a newer version', () => {
    given(...locked, created('sv-1', { serial: 0 }), created('sv-2', { serial: 1 }))
      .when(finalize('sv-1'))
      .refuses('not-found', '');
  });

  it('requires a version of this workspace', () => {
    given(...locked)
      .when(finalize('sv-elsewhere'))
      .refuses('not-found', '');
  });

  it('needs no lock if an admin broke the lock in a build that did not discard versions with it', () => {
    given(...locked, created('sv-1', { serial: 0 }), unlocked(true))
      .when(finalize('sv-1'))
      .yields(finalized('sv-1'));
  });
});

describe('unlocking', () => {
  it('makes the latest finalized version current', () => {
    given(
      ...locked,
      created('sv-1', { serial: 0 }),
      finalized('sv-1'),
      created('sv-2', { serial: 1 }),
      finalized('sv-2', 9),
    )
      .when(unlock())
      .yields(promoted('sv-2', 9), unlocked());
  });

  it('is refused while a version is being uploaded', () => {
    given(...locked, created('sv-1', { serial: 0 }))
      .when(unlock())
      .refuses('unavailable', /latest state version is still pending/);
  });

  it('makes no version current twice', () => {
    given(...withCurrent)
      .when(unlock())
      .yields(unlocked());
  });

  it('by force is not refused, and discards the pending version', () => {
    given(...withCurrent, created('sv-6', { serial: 6 }))
      .when(FORCE_UNLOCK)
      .yields(discarded('sv-6'), unlocked(true));
  });

  it('by force makes the last finalized version current', () => {
    given(...withCurrent, created('sv-6', { serial: 6 }), discarded('sv-6'), unlocked(true), lockedBy(alice))
      .when(create('sv-x', { serial: 5, md5: 'other' }))
      .refuses('conflict', /not above the latest serial, 5/);
  });

  it('by force makes a finalized version current', () => {
    given(...locked, created('sv-1', { serial: 0 }), finalized('sv-1'), created('sv-2', { serial: 1 }))
      .when(FORCE_UNLOCK)
      .yields(discarded('sv-2'), promoted('sv-1'), unlocked(true));
  });

  it('makes the version current that was uploaded after an earlier forced unlock', () => {
    given(...locked, created('sv-1', { serial: 0 }), unlocked(true), finalized('sv-1', 4), lockedBy(alice))
      .when(unlock())
      .yields(promoted('sv-1', 4), unlocked());
  });
});

describe('any sequence of commands for the lock and the state', () => {
  type Step = (n: number) => WorkspaceCommand;
  const holder = fc.constantFrom(alice, bob);
  const steps: fc.Arbitrary<Step> = fc.oneof(
    holder.map(
      (by) => () =>
        ({
          type: 'LockWorkspace',
          data: { holder: by, reason: '', expiresAt: null, lockedSince: null, isHolderHidden: false },
        }) as const,
    ),
    holder.map((by) => () => unlock(by as typeof alice)),
    fc.constant(() => FORCE_UNLOCK),
    fc.record({ serial: fc.nat(6), by: holder, inline: fc.boolean(), force: fc.boolean(), back: fc.boolean() }).map(
      ({ serial, by, inline, force, back }) =>
        (n: number) =>
          create(
            `sv-${n}`,
            { serial, md5: `md5 of ${n}` },
            {
              createdBy: by,
              force,
              facts: inline ? facts(n) : null,
              rollbackOf: back ? 'sv-0' : null,
            },
          ),
    ),
    fc.nat(20).map((id) => () => finalize(`sv-${id}`)),
  );

  /** Returns the events of the commands; refused commands yield none. */
  const history = (commands: readonly Step[]): readonly WorkspaceEvent[] => {
    const events: WorkspaceEvent[] = [createdEvent];
    let state = fold(workspace, workspace.initial, events);
    for (const [n, step] of commands.entries()) {
      try {
        const decided = decide(workspace, step(n), state);
        state = fold(workspace, state, decided);
        events.push(...decided);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
      }
    }
    return events;
  };

  const idsOf = (events: readonly WorkspaceEvent[], type: WorkspaceEvent['type']): string[] =>
    events.filter((event) => event.type === type).map(({ data }) => (data as { id: string }).id);

  const run = fc.array(steps, { minLength: 10, maxLength: 60 }).map(history);

  it('makes a version current only by an unlock, after it is finalized, and at most once', () => {
    fc.assert(
      fc.property(run, (events) => {
        const promotions = events.flatMap((event, at) => (event.type === 'StateVersionPromoted' ? [at] : []));
        const promoted = promotions.map((at) => [
          events[at + 1]?.type,
          idsOf(events.slice(0, at), 'StateVersionFinalized').includes(
            (events[at]?.data as { id: string } | undefined)?.id ?? '',
          ),
        ]);
        expect(promoted).toEqual(promotions.map(() => ['WorkspaceUnlocked', true]));
        const current = idsOf(events, 'StateVersionPromoted');
        expect(new Set(current).size).toBe(current.length);
      }),
    );
  });

  it('finalizes or discards a version, never both and never twice, and an unlock leaves none pending', () => {
    fc.assert(
      fc.property(run, (events) => {
        const decided = [...idsOf(events, 'StateVersionFinalized'), ...idsOf(events, 'StateVersionDiscarded')];
        expect(new Set(decided).size).toBe(decided.length);
        const unlockedAt = events.findLastIndex(({ type }) => type === 'WorkspaceUnlocked');
        const before = events.slice(0, unlockedAt + 1);
        const finishedIds = new Set([
          ...idsOf(before, 'StateVersionFinalized'),
          ...idsOf(before, 'StateVersionDiscarded'),
        ]);
        expect(idsOf(before, 'StateVersionCreated').filter((id) => !finishedIds.has(id))).toEqual([]);
      }),
    );
  });
});
