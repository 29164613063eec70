import { loadImportedWorkspace, type ImportedWorkspaceState } from '../target/origins.queries.js';
import { getText, type ForeignResource } from '../source/source-documents.js';
import { continueAfter, type ImportContext } from './resources.copier.js';
import { copyStateVersions } from './state-versions.copier.js';
import { describeImportLock, findCopy } from './workspaces.copier.js';

const KIND = 'workspaces in use here';

/** A complete copy of a workspace. */
type Handover = {
  readonly source: ForeignResource;
  readonly sourceName: string;
  /** The name here. */
  readonly name: string;
  readonly id: string;
  readonly state: ImportedWorkspaceState;
  /** Whether the copy still waits with the lock of the import. */
  readonly isWaiting: boolean;
  /** Whether anybody has locked the copy. */
  readonly isLockedHere: boolean;
  /** The reason of the lock at the source. */
  readonly reason: string;
};

const loadHandover = async (context: ImportContext, source: ForeignResource): Promise<Handover | null> => {
  const { report, database, from, into, publicUrl } = context;
  const present = await findCopy(context, source);
  const sourceName = getText(source, 'name') ?? '';
  if (!present) {
    report.add(KIND, sourceName, 'kept', 'has no copy here');
    return null;
  }
  const name = getText(present, 'name') ?? '';
  const state = await loadImportedWorkspace(database, present.id, describeImportLock(from));
  if (!state.isComplete) {
    report.add(KIND, name, 'failed', 'is not complete: run the import with --apply first');
    return null;
  }
  const reason = `Moved to ${publicUrl}/app/${into}/workspaces/${name}`;
  const isLockedHere = present.attributes['locked'] === true;
  return { source, sourceName, name, id: present.id, state, isWaiting: state.isWithImport, isLockedHere, reason };
};

/** Returns the lines of a `cloud` block that lead to the copy. */
const describeCloudBlock = ({ publicUrl, into }: ImportContext, name: string): string =>
  `hostname = ${JSON.stringify(new URL(publicUrl).host)}; organization = ${JSON.stringify(into)}; name = ${JSON.stringify(name)}`;

/** Locks the original, copies what was added since, and unlocks the copy, so that never both can be changed. */
const finishWorkspace = async (context: ImportContext, handover: Handover): Promise<void> => {
  const { report, source, target } = context;
  const { name, sourceName, id, state, isWaiting, reason } = handover;
  if (!isWaiting) return report.add(KIND, name, 'same', describeCloudBlock(context, name));
  const isLocked = getText(handover.source, 'locked-reason') === reason;
  if (!isLocked && !(await source.changeLock(handover.source.id, 'lock', reason))) {
    return report.add(KIND, name, 'failed', 'the source refused the lock: a run or a person may hold it');
  }
  const isComplete = await copyStateVersions(context, { name: sourceName, id, copied: state.states, mayChange: true });
  if (!isComplete) return report.add(KIND, name, 'failed', 'a state was refused; the original stays locked');
  const refused = await target.change(`/api/v2/workspaces/${id}/actions/unlock`, {});
  report.add(KIND, name, refused === null ? 'created' : 'failed', refused ?? describeCloudBlock(context, name));
};

/** Locks the copy, and unlocks the original. Refuses it if the original lacks states of the copy. */
const undoWorkspace = async (context: ImportContext, handover: Handover): Promise<void> => {
  const { report, source, target, from } = context;
  const { name, id, state, isWaiting, reason } = handover;
  const isLocked = getText(handover.source, 'locked-reason') === reason;
  if (isWaiting && !isLocked) return report.add(KIND, name, 'same');
  if (state.hasOwnStates) return report.add(KIND, name, 'kept', 'has states that the source lacks');
  // A program that works on the copy could otherwise end the lock of the import with its own.
  if (!isWaiting && handover.isLockedHere) return report.add(KIND, name, 'failed', 'somebody has locked it here');
  const lock = { reason: describeImportLock(from) };
  const origin = { from, id: handover.source.id, time: null };
  const refused = isWaiting ? null : await target.change(`/api/v2/workspaces/${id}/actions/lock`, lock, origin);
  if (refused !== null) return report.add(KIND, name, 'failed', refused);
  if (isLocked && !(await source.changeLock(handover.source.id, 'unlock', reason))) {
    return report.add(KIND, name, 'failed', 'the source refused to unlock it');
  }
  report.add(KIND, name, 'created', 'is in use at the source again');
};

/** Lets people use the copies instead of the originals, or the originals again. */
export const handOver = async (context: ImportContext): Promise<void> => {
  const { source, organization, mode, signal } = context;
  for await (const workspace of source.list(`/api/v2/organizations/${organization}/workspaces`)) {
    signal.throwIfAborted();
    await continueAfter(context, { kind: KIND, name: getText(workspace, 'name') ?? workspace.id }, async () => {
      const handover = await loadHandover(context, workspace);
      if (handover) await (mode === 'finish' ? finishWorkspace : undoWorkspace)(context, handover);
    });
  }
};
