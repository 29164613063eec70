import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { GpgKeyPath, GpgKeyRow } from './gpg-keys.queries.js';

export type GpgKeyOperations = {
  /** Adds a key, or renews the text of a key that the organization has. */
  AddGpgKey: Operation<{ namespace: string; asciiArmor: string; actor: Actor }, GpgKeyRow>;
  /** Replaces the text of a key by a later copy of the same key. */
  RenewGpgKey: Operation<{ path: GpgKeyPath; asciiArmor: string; actor: Actor }, GpgKeyRow>;
  /** Moves a key to another organization. */
  MoveGpgKey: Operation<{ path: GpgKeyPath; namespace: string; actor: Actor }, GpgKeyRow>;
  RemoveGpgKey: Operation<{ path: GpgKeyPath; actor: Actor }, void>;
};

export class ChangeGpgKey<T extends keyof GpgKeyOperations> extends AggregateCommand<GpgKeyOperations, T> {}
