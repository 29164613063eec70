import type { TargetProject, SingleChange, WorkspaceFacts } from '../../../api/bulk-changes.js';
import type { TagFact } from '../../../api/tag-facts.js';
import { formatTag } from '../../../components/tag-text.js';

/* What a change of several workspaces will do to each. The facts and the permissions come from the API. */

const BULK_ACTIONS = ['lock', 'unlock', 'add-tag', 'remove-tag', 'move'] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];

/** What the person has entered. */
type BulkInput = {
  readonly reason: string;
  readonly key: string;
  readonly value: string;
  readonly project: TargetProject | null;
};

type PlanContext = BulkInput & {
  readonly accountId: string;
  /** Reserved keys that forbid to override the values of projects. */
  readonly forbiddingKeys: readonly string[];
};

/** A workspace that changes, with the change that undoes it. */
export type PlannedChange = {
  readonly workspace: WorkspaceFacts;
  /** What changes, from the present value to the new one. */
  readonly text: string;
  readonly change: SingleChange;
  readonly undo: SingleChange;
};
/** A workspace that stays as it is, and why. */
type SkippedWorkspace = { readonly workspace: WorkspaceFacts; readonly reason: string };
export type BulkPlan = { readonly changes: readonly PlannedChange[]; readonly skipped: readonly SkippedWorkspace[] };

type PlanOutcome = Omit<PlannedChange, 'workspace'> | string;

const NO_TAGS = 'You have no permission to change its tags.';
const NO_LOCK = 'You have no permission to lock it.';

const describeLock = ({ holder, reason }: NonNullable<WorkspaceFacts['lock']>): string =>
  `locked by ${holder}${reason === '' ? '' : ` (${reason})`}`;

const planLock = ({ lock, permissions }: WorkspaceFacts, { reason }: PlanContext): PlanOutcome => {
  if (lock) return `It is ${describeLock(lock)}.`;
  if (!permissions['can-lock']) return NO_LOCK;
  return { text: 'unlocked → locked by you', change: { kind: 'lock', reason }, undo: { kind: 'unlock' } };
};

const planUnlock = ({ lock, permissions }: WorkspaceFacts, { accountId }: PlanContext): PlanOutcome => {
  if (!lock) return 'It is not locked.';
  if (lock.holderId !== accountId) return `It is ${describeLock(lock)}. Only the holder can unlock it here.`;
  if (!permissions['can-unlock']) return 'You have no permission to unlock it.';
  return {
    text: `${describeLock(lock)} → unlocked`,
    change: { kind: 'unlock' },
    undo: { kind: 'lock', reason: lock.reason },
  };
};

const explainAddition = (
  tag: TagFact | undefined,
  { project, permissions }: WorkspaceFacts,
  { key, value, forbiddingKeys }: PlanContext,
): string | null => {
  if (tag && tag.value === value) {
    return tag.isInherited ? `It inherits the tag from its project ${project.name}.` : 'It has the tag already.';
  }
  if (!permissions['can-manage-tags']) return NO_TAGS;
  const isFixed = tag?.isForbidden === true || (tag?.isInherited === true && forbiddingKeys.includes(key));
  return isFixed
    ? `Its project ${project.name} binds ${key}, and the key is reserved: workspaces may not override it.`
    : null;
};

const planAddition = (workspace: WorkspaceFacts, context: PlanContext): PlanOutcome => {
  const { key, value } = context;
  const tag = workspace.tags.find((each) => each.key === key);
  const reason = explainAddition(tag, workspace, context);
  if (reason !== null) return reason;
  const change = { kind: 'bind', key, value } as const;
  const after = formatTag({ key, value });
  if (!tag) return { text: `no tag ${key} → ${after}`, change, undo: { kind: 'unbind', key, value } };
  const before = formatTag({ key, value: tag.value });
  if (!tag.isInherited) return { text: `${before} → ${after}`, change, undo: { kind: 'bind', key, value: tag.value } };
  const text = `${before} of its project ${workspace.project.name} → ${after}`;
  return { text, change, undo: { kind: 'unbind', key, value } };
};

const planRemoval = ({ tags, project, permissions }: WorkspaceFacts, { key, value }: PlanContext): PlanOutcome => {
  const tag = tags.find((each) => each.key === key);
  if (!tag) return `It has no tag ${key}.`;
  if (tag.isInherited) return `Its project ${project.name} binds the tag. Change the project instead.`;
  if (value !== '' && tag.value !== value) return `Its value is ${tag.value === '' ? 'empty' : tag.value}.`;
  if (!permissions['can-manage-tags']) return NO_TAGS;
  return {
    text: `${formatTag({ key, value: tag.value })} → no tag of its own`,
    // The value of the preview, so that a value that somebody sets meanwhile stays.
    change: { kind: 'unbind', key, value: tag.value },
    undo: { kind: 'bind', key, value: tag.value },
  };
};

const planMove = ({ project: home, tags }: WorkspaceFacts, { project }: PlanContext): PlanOutcome => {
  if (!project) return 'Choose a project.';
  if (home.id === project.id) return 'It is in this project already.';
  if (!home.canMove) return `You have no permission to move workspaces out of ${home.name}.`;
  if (!project.canMove) return `You have no permission to move workspaces into ${project.name}.`;
  const conflict = tags.find(({ key, isInherited }) => !isInherited && project.fixedKeys.includes(key));
  if (conflict) return `It has a tag ${conflict.key} of its own, and ${project.name} binds this reserved key.`;
  return {
    text: `${home.name} → ${project.name}`,
    change: { kind: 'move', project: project.id },
    undo: { kind: 'move', project: home.id },
  };
};

type AccessRule = { readonly isMet: (workspace: WorkspaceFacts) => boolean; readonly needed: string };

const TAGS: AccessRule = {
  isMet: ({ permissions }) => permissions['can-manage-tags'],
  needed: 'You need a team with write or admin access to them or their project.',
};

const LOCKS = 'You need a team with write or admin access to them, or with the permission to lock them.';

const PERMISSIONS: Readonly<Record<BulkAction, AccessRule>> = {
  lock: { isMet: ({ permissions }) => permissions['can-lock'], needed: LOCKS },
  unlock: { isMet: ({ permissions }) => permissions['can-unlock'], needed: LOCKS },
  'add-tag': TAGS,
  'remove-tag': TAGS,
  move: {
    isMet: ({ project }) => project.canMove,
    needed: 'You need a team that may manage workspaces, or that may move them out of their projects.',
  },
};

/** Returns what the person needs, if they may change none of the workspaces. Null if they may change one. */
export const explainMissingAccess = (action: BulkAction, workspaces: readonly WorkspaceFacts[]): string | null => {
  const { isMet, needed } = PERMISSIONS[action];
  return workspaces.length === 0 || workspaces.some(isMet) ? null : needed;
};

const PLANNERS: Readonly<Record<BulkAction, (workspace: WorkspaceFacts, context: PlanContext) => PlanOutcome>> = {
  lock: planLock,
  unlock: planUnlock,
  'add-tag': planAddition,
  'remove-tag': planRemoval,
  move: planMove,
};

/** Returns what the action changes, and what it does not change. It sends nothing. */
export const planBulkChange = (
  action: BulkAction,
  workspaces: readonly WorkspaceFacts[],
  context: PlanContext,
): BulkPlan => {
  const changes: PlannedChange[] = [];
  const skipped: SkippedWorkspace[] = [];
  for (const workspace of workspaces) {
    const outcome = PLANNERS[action](workspace, context);
    if (typeof outcome === 'string') skipped.push({ workspace, reason: outcome });
    else changes.push({ workspace, ...outcome });
  }
  return { changes, skipped };
};

/** Returns whether the person has entered everything that the action needs. */
export const isComplete = (action: BulkAction, { key, project }: BulkInput): boolean => {
  if (action === 'move') return project !== null;
  return action === 'lock' || action === 'unlock' || key !== '';
};
