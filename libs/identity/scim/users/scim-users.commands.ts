import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { ScimUserInput, ScimOperation } from '../protocol/scim-bodies.js';
import type { ScimUserRow } from './scim-users.queries.js';

export type ScimUserOperations = {
  CreateScimUser: Operation<{ input: ScimUserInput; actor: Actor }, ScimUserRow>;
  ReplaceScimUser: Operation<{ id: string; input: ScimUserInput; actor: Actor }, ScimUserRow>;
  PatchScimUser: Operation<{ id: string; operations: readonly ScimOperation[]; actor: Actor }, ScimUserRow>;
  DeleteScimUser: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeScimUser<T extends keyof ScimUserOperations> extends AggregateCommand<ScimUserOperations, T> {}
