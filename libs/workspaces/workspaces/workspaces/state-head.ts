import type { ActingPrincipal } from '#api/access/rules';
import { conflict, notFound, type Message, type HandlersByType } from '#platform/kernel';
import { describeHolder } from '../lock/lock-holder.js';
import type {
  ActiveWorkspace,
  FinalizedStateVersion,
  StateHead,
  StateVersion,
  WorkspaceState,
} from './workspace-state.js';

/**
 * The head of a workspace's state: its newest version and its current one.
 *
 * (none) ──create──► pending ──finalize (the state file is here)──► finalized ──promote (at unlock)──► current
 * ├──discard (a newer one takes its place, or the lock is broken)──► discarded
 * └──fail (the file is not the declared state, or never came)──► errored
 *
 * The holder of the lock creates a version, which is intermediate until the workspace is unlocked. A client that dies
 * during the upload leaves a pending version. It must be discarded, or the workspace could never be unlocked or get a
 * new version.
 */

/** An output without its value, which may be a secret and stays in the state file. */
export type OutputSummary = {
  readonly id: string;
  readonly name: string;
  readonly sensitive: boolean;
  readonly type: string;
  readonly detailedType: unknown;
};

/** The facts of a state file without any values. */
export type StateSummary = {
  /** Version of the format of the file, 1 to 4. */
  readonly format: number;
  /** The lineage in the file, with which clients continue. The oldest formats have none. */
  readonly lineage: string | null;
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
  /** The version that this one restores. */
  rollbackOf: string | null;
};

export type StateEvent =
  | Message<'StateVersionCreated', StateVersionCreation>
  | Message<'StateVersionFinalized', { id: string } & StateSummary>
  | Message<'StateVersionPromoted', { id: string; resources: number }>
  | Message<'StateVersionDiscarded', { id: string }>
  | Message<'StateVersionErrored', { id: string }>;

export type StateCommand =
  /** `facts`: null unless the request contains the file. */
  | Message<
      'CreateStateVersion',
      StateVersionCreation & { force: boolean; facts: StateSummary | null; isImported: boolean }
    >
  | Message<'FinalizeStateVersion', { id: string; facts: StateSummary }>
  | Message<'FailStateVersion', { id: string }>;

type Content = Pick<StateVersionCreation, 'serial' | 'lineage' | 'md5'>;

const hasContent = (version: StateVersion, { serial, lineage, md5 }: Content): boolean =>
  version.serial === serial && version.lineage === lineage && version.md5 === md5;

/** Within one lock the same content is a client's retry, for example after a lost response. */
const isRetry = (latest: StateVersion | null, content: Content): boolean =>
  latest !== null && latest.isOfThisLock && hasContent(latest, content);

const toFinalizedEvent = (id: string, facts: StateSummary): StateEvent => {
  const { format, lineage, size, terraformVersion, resources, providers, modules, outputs } = facts;
  const data = { id, format, lineage, size, terraformVersion, resources, providers, modules, outputs };
  return { type: 'StateVersionFinalized', data };
};

const toPromotedEvent = (id: string, resources: number): StateEvent => ({
  type: 'StateVersionPromoted',
  data: { id, resources },
});

/** Returns the events that make the latest finalized version current at the unlock. */
export const decidePromotion = ({ finalized, current }: StateHead): readonly StateEvent[] =>
  finalized && finalized.version.id !== current ? [toPromotedEvent(finalized.version.id, finalized.resources)] : [];

/** Returns the events that discard a version that no client will upload any more. */
export const decideDiscard = ({ latest }: StateHead): readonly StateEvent[] =>
  latest?.status === 'pending' ? [{ type: 'StateVersionDiscarded', data: { id: latest.id } }] : [];

const checkSequence = (
  { version: before, lineageOfFile }: FinalizedStateVersion,
  { serial, lineage, md5, rollbackOf }: Content & Pick<StateVersionCreation, 'rollbackOf'>,
): void => {
  // Under a new lock the same content makes a new version: go-tfe expects one.
  if (hasContent(before, { serial, lineage, md5 })) return;
  // Clients continue with the lineage of the file.
  const expected = lineageOfFile ?? before.lineage;
  // A rollback may restore another lineage.
  if (!rollbackOf && expected !== null && lineage !== null && expected !== lineage) {
    throw conflict(`The state's lineage ${lineage} is not that of this workspace, ${expected}`);
  }
  if (serial <= before.serial) {
    throw conflict(`The state's serial ${serial} is not above the latest serial, ${before.serial}`);
  }
};

/** Leaves out the name of a team, because not every caller may see it. */
const describeHolderKind = (holder: ActingPrincipal): string =>
  holder.type === 'teams' ? 'locked by another team' : describeHolder(holder, false);

export const stateDecisions: HandlersByType<StateCommand, [state: ActiveWorkspace], readonly StateEvent[]> = {
  CreateStateVersion: ({ force, facts, isImported, ...creation }, { lock, stateHead }) => {
    const { id, serial, lineage, md5, createdBy, run, rollbackOf } = creation;
    if (!lock) throw conflict('Unable to create a state version. Lock the workspace first');
    if (lock.holder.id !== createdBy.id) {
      throw conflict(`Unable to create a state version. The workspace is ${describeHolderKind(lock.holder)}`);
    }
    // A file of the repeated request was stored under the id of no version: libs/workspaces/state assigns it to the first one.
    // At the source of an import, two versions can have the same content.
    if (!isImported && isRetry(stateHead.latest, creation)) return [];
    // Compared with finalized content: a pending version is discarded, whatever its serial.
    if (stateHead.finalized && !force) checkSequence(stateHead.finalized, creation);
    const data = { id, serial, lineage, md5, createdBy, run, rollbackOf };
    const createdEvent = { type: 'StateVersionCreated', data } as const;
    return [
      ...decideDiscard(stateHead),
      createdEvent,
      ...(facts ? [toFinalizedEvent(id, facts)] : []),
      // Versions of an import become current at once, so that the history shows each of them at its own time.
      ...(facts && isImported ? [toPromotedEvent(id, facts.resources)] : []),
    ];
  },
  FinalizeStateVersion: ({ id, facts }, { stateHead: { latest } }) => {
    if (latest?.id !== id) throw notFound();
    // The caller has proved that the content is the same: it repeats an upload, or two clients sent it at once.
    if (latest.status === 'finalized') return [];
    return [toFinalizedEvent(id, facts)];
  },
  // Another request may have finalized or ended the version first.
  FailStateVersion: ({ id }, { stateHead: { latest } }) =>
    latest?.id === id && latest.status === 'pending' ? [{ type: 'StateVersionErrored', data: { id } }] : [],
};

const clearLockOwnership = (version: StateVersion): StateVersion => ({ ...version, isOfThisLock: false });

/** Returns the state head after the unlock. */
export const releaseHead = (head: StateHead): StateHead => ({
  ...head,
  latest: head.latest && clearLockOwnership(head.latest),
  finalized: head.finalized && { ...head.finalized, version: clearLockOwnership(head.finalized.version) },
});

const withHead = (state: WorkspaceState, change: (head: StateHead) => Partial<StateHead>): WorkspaceState =>
  state.status === 'active' ? { ...state, stateHead: { ...state.stateHead, ...change(state.stateHead) } } : state;

const withoutPendingVersion = (state: WorkspaceState, id: string): WorkspaceState =>
  withHead(state, ({ latest, finalized }) => (latest?.id === id ? { latest: finalized?.version ?? null } : {}));

export const stateEvolutions: HandlersByType<StateEvent, [state: WorkspaceState], WorkspaceState> = {
  StateVersionCreated: ({ id, serial, lineage, md5 }, state) =>
    withHead(state, () => ({ latest: { id, serial, lineage, md5, status: 'pending', isOfThisLock: true } })),
  StateVersionFinalized: ({ id, resources, lineage }, state) =>
    withHead(state, ({ latest }) => {
      if (latest?.id !== id) return {};
      const version = { ...latest, status: 'finalized' } as const;
      return { latest: version, finalized: { version, resources, lineageOfFile: lineage } };
    }),
  StateVersionPromoted: ({ id, resources }, state) => withHead(state, () => ({ current: id, resources })),
  StateVersionDiscarded: ({ id }, state) => withoutPendingVersion(state, id),
  StateVersionErrored: ({ id }, state) => withoutPendingVersion(state, id),
};
