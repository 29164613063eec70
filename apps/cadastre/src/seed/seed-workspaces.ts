import type { Timestamp } from '#platform/kernel';
import { decideWrite, newStream, type BulkWrite, type StreamWrite } from '#storage/event-store';
import { workspace, type WorkspaceState } from '#workspaces/workspaces';
import { addRequest, pickUser, type SeedPlan } from './seed-plan.js';
import { describeResource } from './seeded-ids.js';

/** The position of a workspace: its organization, that organization's projects, and its number in the organization. */
export type WorkspaceSlot = {
  readonly organization: string;
  readonly projects: readonly string[];
  readonly n: number;
};

/**
 * About this number of workspaces of an organization are samples, whatever its size. Filters for them return as many
 * rows in a small organization and in a large one.
 */
const SAMPLES = 40;
const COMPONENTS = ['cluster', 'database', 'dns', 'gateway', 'network', 'queue', 'storage'];
const REASONS = ['Applying a change', 'Investigating an incident', 'Maintenance window', 'Migrating state'];
const TEAMS = 20;
const PRODUCTION_SHARE = 3;

const pick = (texts: readonly string[], n: number): string => texts[n % texts.length] ?? '';

const isSample = (n: number, workspaces: number): boolean => n % Math.ceil(workspaces / SAMPLES) === 0;

/** Returns the write that creates a workspace. It depends only on the options and the slot. */
const decideCreation = ({ options, defaults }: SeedPlan, { organization, projects, n }: WorkspaceSlot): StreamWrite => {
  const { id, choice } = describeResource(options, 'ws', `${organization} ${n}`);
  const environment = choice(0) % PRODUCTION_SHARE === 0 ? 'prod' : 'test';
  const sample = isSample(n, options.workspaces);
  const component = sample ? 'sample' : pick(COMPONENTS, choice(1));
  const name = `${component}-${environment}-${String(n).padStart(7, '0')}`;
  return decideWrite(workspace, newStream(id, workspace), organization, {
    type: 'CreateWorkspace',
    data: {
      project: projects[n % projects.length] ?? '',
      name,
      settings: {
        description: `The ${component} of ${environment}`,
        globalRemoteState: defaults.globalRemoteState,
        terraformVersion: defaults.terraformVersion,
      },
      names: sample ? ['sample'] : [],
      bindings: [
        { key: 'env', value: environment },
        { key: 'team', value: `team-${(choice(2) % TEAMS) + 1}` },
      ],
    },
  });
};

export const planWorkspace = (plan: SeedPlan, slot: WorkspaceSlot, time: Timestamp): BulkWrite =>
  addRequest(plan, decideCreation(plan, slot), pickUser(plan, slot.n), [time]);

/** Locks a workspace and unlocks it again. `earlier`: how often that happened before. */
export const planLock = (
  plan: SeedPlan,
  slot: WorkspaceSlot,
  earlier: number,
  times: readonly [Timestamp, Timestamp],
): BulkWrite => {
  const { stream, organization, events, snapshot } = decideCreation(plan, slot);
  const { id, username: name } = pickUser(plan, slot.n + earlier);
  const holder = { id, type: 'users', name } as const;
  const details = { holder, lockedSince: null, isHolderHidden: false };
  const loaded = { stream, version: events.length + 2 * earlier, state: snapshot?.state as WorkspaceState };
  const write = decideWrite(
    workspace,
    loaded,
    organization,
    { type: 'LockWorkspace', data: { ...details, reason: pick(REASONS, slot.n + earlier), expiresAt: null } },
    { type: 'UnlockWorkspace', data: details },
  );
  return addRequest(plan, write, { id, username: name }, times);
};
