import type { Actor } from '#access';
import { AggregateCommand, type Operation } from '#event-store';
import type { GpgKeyPath, GpgKeyRow } from './gpg-keys.queries.js';

export type GpgKeyOperations = {
  AddGpgKey: Operation<{ namespace: string; asciiArmor: string; actor: Actor }, GpgKeyRow>;
  /** Moves a key to another organization. */
  MoveGpgKey: Operation<{ path: GpgKeyPath; namespace: string; actor: Actor }, GpgKeyRow>;
  RemoveGpgKey: Operation<{ path: GpgKeyPath; actor: Actor }, void>;
};

export class ChangeGpgKey<T extends keyof GpgKeyOperations> extends AggregateCommand<GpgKeyOperations, T> {}
