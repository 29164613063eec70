import { unprocessable, type Message, type HandlersByType } from '#platform/kernel';
import type { WorkspaceChanges } from '../settings/workspace-settings.js';
import type { ActiveWorkspace, WorkspaceState } from '../workspaces/workspace-state.js';

/**
 * The rules for workspaces that may read the state of this one. The names are in the view, not in the decider's state.
 */
export type ConsumerEvent =
  | Message<'RemoteStateConsumersAdded', { workspaces: readonly string[] }>
  | Message<'RemoteStateConsumersRemoved', { workspaces: readonly string[] }>;

type Consumers = {
  readonly workspaces: readonly string[];
  /**
   * The present consumers, from the view at the version that is decided on: of `workspaces`, or all of them for a
   * replacement.
   */
  readonly present: readonly string[];
};

export type ConsumerCommand =
  | Message<'AddRemoteStateConsumers', Consumers>
  | Message<'RemoveRemoteStateConsumers', Consumers>
  | Message<'ReplaceRemoteStateConsumers', Consumers>;

const checkSharing = ({ settings }: ActiveWorkspace): void => {
  if (!settings.globalRemoteState) return;
  throw unprocessable('Remote state consumers cannot be changed when global remote state sharing is enabled', '/data');
};

const exclude = (workspaces: readonly string[], excluded: readonly string[]): readonly string[] => {
  const remaining = new Set(workspaces);
  for (const id of excluded) remaining.delete(id);
  return [...remaining];
};

const toAddedEvents = (workspaces: readonly string[]): readonly ConsumerEvent[] =>
  workspaces.length > 0 ? [{ type: 'RemoteStateConsumersAdded', data: { workspaces } }] : [];

const toRemovedEvents = (workspaces: readonly string[]): readonly ConsumerEvent[] =>
  workspaces.length > 0 ? [{ type: 'RemoteStateConsumersRemoved', data: { workspaces } }] : [];

/**
 * Returns the events that remove the named consumers because an update shares the state with the organization or
 * project. terraform-provider-tfe then takes the list for empty: when the sharing ends, it adds the names of its
 * configuration and removes none (resource_tfe_workspace_settings.go). Names that came back would fail its apply.
 */
export const decideConsumerChanges = (
  { globalRemoteState, projectRemoteState }: WorkspaceChanges,
  consumers: readonly string[],
): readonly ConsumerEvent[] => (globalRemoteState || projectRemoteState ? toRemovedEvents(consumers) : []);

export const consumerDecisions: HandlersByType<ConsumerCommand, [state: ActiveWorkspace], readonly ConsumerEvent[]> = {
  AddRemoteStateConsumers: ({ workspaces, present }, state) => {
    checkSharing(state);
    return toAddedEvents(exclude(workspaces, present));
  },
  RemoveRemoteStateConsumers: ({ workspaces, present }, state) => {
    checkSharing(state);
    const removed = new Set(workspaces);
    return toRemovedEvents(present.filter((consumer) => removed.has(consumer)));
  },
  ReplaceRemoteStateConsumers: ({ workspaces, present }, state) => {
    checkSharing(state);
    return [...toRemovedEvents(exclude(present, workspaces)), ...toAddedEvents(exclude(workspaces, present))];
  },
};

const keepState = (_: unknown, state: WorkspaceState): WorkspaceState => state;

export const consumerEvolutions: HandlersByType<ConsumerEvent, [state: WorkspaceState], WorkspaceState> = {
  RemoteStateConsumersAdded: keepState,
  RemoteStateConsumersRemoved: keepState,
};
