import type { ActingPrincipal } from '#access/rules';
import { conflict, notFound, type Message, type HandlersByType } from '#kernel';
import { describeHolder } from '../lock/lock-holder.js';
import type { ActiveWorkspace, StateHead, StateVersion, WorkspaceState } from './workspace-state.js';

/*
 * The head of a workspace's state: its newest version and its current one.
 *
 *   (none) ──create──► pending ──finalize (the state file is here)──► finalized ──promote (at unlock)──► current
 *                         └──discard (a newer one takes its place, or the lock is broken)──► discarded
 *
 * The holder of the lock creates a version, which is intermediate until the workspace is unlocked. A client that dies during
 * the upload leaves a pending version. It must be discarded, or the workspace could never be unlocked or get a new version.
 */

/** An output as the log knows it: its value, which may be a secret, stays in the state file. */
export type OutputSummary = {
  readonly id: string;
  readonly name: string;
  readonly sensitive: boolean;
  readonly type: string;
  readonly detailedType: unknown;
};

/** What a state file says, without a single value. */
export type StateSummary = {
  readonly size: number;
  readonly terraformVersion: string | null;
  readonly resources: number;
  readonly providers: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly modules: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly outputs: readonly OutputSummary[];
};

type StateVersionCreation = {
  id: string;
  serial: number;
  lineage: string | null;
  md5: string;
  createdBy: ActingPrincipal;
  run: string | null;
  /** The version whose state this one brings back. */
  rollbackOf: string | null;
};

export type StateEvent =
  | Message<'StateVersionCreated', StateVersionCreation>
  | Message<'StateVersionFinalized', { id: string } & StateSummary>
  | Message<'StateVersionPromoted', { id: string; resources: number }>
  | Message<'StateVersionDiscarded', { id: string }>;

export type StateCommand =
  /** `facts` where the file came along with the request. */
  | Message<'CreateStateVersion', StateVersionCreation & { force: boolean; facts: StateSummary | null }>
  | Message<'FinalizeStateVersion', { id: string; facts: StateSummary }>;

type Content = Pick<StateVersionCreation, 'serial' | 'lineage' | 'md5'>;

const hasContent = (version: StateVersion, { serial, lineage, md5 }: Content): boolean =>
  version.serial === serial && version.lineage === lineage && version.md5 === md5;

/** Within one lock the same content is the retry of a client, after a lost response for example. */
const isRetry = (latest: StateVersion | null, content: Content): boolean =>
  latest !== null && latest.isOfThisLock && hasContent(latest, content);

const toFinalizedEvent = (id: string, facts: StateSummary): StateEvent => {
  const { size, terraformVersion, resources, providers, modules, outputs } = facts;
  const data = { id, size, terraformVersion, resources, providers, modules, outputs };
  return { type: 'StateVersionFinalized', data };
};

/** What unlocking yields for the state. */
export const decidePromotion = ({ finalized, current }: StateHead): readonly StateEvent[] =>
  finalized && finalized.version.id !== current
    ? [{ type: 'StateVersionPromoted', data: { id: finalized.version.id, resources: finalized.resources } }]
    : [];

/** What becomes of a version that nobody will upload any more. */
export const decideDiscard = ({ latest }: StateHead): readonly StateEvent[] =>
  latest?.status === 'pending' ? [{ type: 'StateVersionDiscarded', data: { id: latest.id } }] : [];

const checkSequence = (
  before: StateVersion,
  { serial, lineage, md5, rollbackOf }: Content & Pick<StateVersionCreation, 'rollbackOf'>,
): void => {
  // Under a new lock the same content makes a new version: go-tfe expects one (clients.md §8).
  if (hasContent(before, { serial, lineage, md5 })) return;
  // Another lineage may be the very thing that is rolled back.
  if (!rollbackOf && before.lineage !== null && lineage !== null && before.lineage !== lineage) {
    throw conflict(`The state's lineage ${lineage} is not that of this workspace, ${before.lineage}`);
  }
  if (serial <= before.serial) {
    throw conflict(`The state's serial ${serial} is not above the latest serial, ${before.serial}`);
  }
};

/** Not every caller may see every team. */
const describeOther = (holder: ActingPrincipal): string =>
  holder.type === 'teams' ? 'locked by another team' : describeHolder(holder, false);

export const stateDecisions: HandlersByType<StateCommand, [state: ActiveWorkspace], readonly StateEvent[]> = {
  CreateStateVersion: ({ force, facts, ...birth }, { lock, stateHead }) => {
    const { id, serial, lineage, md5, createdBy, run, rollbackOf } = birth;
    if (!lock) throw conflict('Unable to create a state version. Lock the workspace first');
    if (lock.holder.id !== createdBy.id) {
      throw conflict(`Unable to create a state version. The workspace is ${describeOther(lock.holder)}`);
    }
    // Whatever file came along lies under an id that no version will have: libs/state brings it to the first one's.
    if (isRetry(stateHead.latest, birth)) return [];
    // Measured by what is here for good: a pending version gives way, whatever its serial.
    if (stateHead.finalized && !force) checkSequence(stateHead.finalized.version, birth);
    const data = { id, serial, lineage, md5, createdBy, run, rollbackOf };
    const born = { type: 'StateVersionCreated', data } as const;
    return [...decideDiscard(stateHead), born, ...(facts ? [toFinalizedEvent(id, facts)] : [])];
  },
  FinalizeStateVersion: ({ id, facts }, { stateHead: { latest } }) => {
    if (latest?.id !== id) throw notFound();
    // Whoever says so has shown that the content is the same: they repeat themselves, or two of them came at once.
    if (latest.status === 'finalized') return [];
    return [toFinalizedEvent(id, facts)];
  },
};

const markEarlierLock = (version: StateVersion): StateVersion => ({ ...version, isOfThisLock: false });

/** The state head once the lock is gone. */
export const releaseHead = (head: StateHead): StateHead => ({
  ...head,
  latest: head.latest && markEarlierLock(head.latest),
  finalized: head.finalized && { ...head.finalized, version: markEarlierLock(head.finalized.version) },
});

const withHead = (state: WorkspaceState, change: (head: StateHead) => Partial<StateHead>): WorkspaceState =>
  state.status === 'active' ? { ...state, stateHead: { ...state.stateHead, ...change(state.stateHead) } } : state;

export const stateEvolutions: HandlersByType<StateEvent, [state: WorkspaceState], WorkspaceState> = {
  StateVersionCreated: ({ id, serial, lineage, md5 }, state) =>
    withHead(state, () => ({ latest: { id, serial, lineage, md5, status: 'pending', isOfThisLock: true } })),
  StateVersionFinalized: ({ id, resources }, state) =>
    withHead(state, ({ latest }) => {
      if (latest?.id !== id) return {};
      const version = { ...latest, status: 'finalized' } as const;
      return { latest: version, finalized: { version, resources } };
    }),
  StateVersionPromoted: ({ id, resources }, state) => withHead(state, () => ({ current: id, resources })),
  StateVersionDiscarded: ({ id }, state) =>
    withHead(state, ({ latest, finalized }) => (latest?.id === id ? { latest: finalized?.version ?? null } : {})),
};
