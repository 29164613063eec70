import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { ScimGroupInput, ScimOperation } from '../protocol/scim-bodies.js';
import type { ScimGroupRow } from './scim-groups.queries.js';

export type ScimGroupOperations = {
  CreateScimGroup: Operation<{ input: ScimGroupInput; actor: Actor }, ScimGroupRow>;
  ReplaceScimGroup: Operation<{ id: string; input: ScimGroupInput; actor: Actor }, ScimGroupRow>;
  PatchScimGroup: Operation<{ id: string; operations: readonly ScimOperation[]; actor: Actor }, ScimGroupRow>;
  DeleteScimGroup: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeScimGroup<T extends keyof ScimGroupOperations> extends AggregateCommand<ScimGroupOperations, T> {}
