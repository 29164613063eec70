import type { Actor } from '#access';
import { AggregateCommand, type Operation } from '#event-store';
import type { SshKeyRow } from './ssh-keys.queries.js';

export type SshKeyOperations = {
  CreateSshKey: Operation<{ organization: string; name: string; privateKey: string; actor: Actor }, SshKeyRow>;
  /** An attribute that is undefined keeps its value. Resolves to null if the key has been deleted meanwhile. */
  UpdateSshKey: Operation<
    {
      id: string;
      name: string | undefined;
      privateKey: string | undefined;
      actor: Actor;
    },
    SshKeyRow | null
  >;
  DeleteSshKey: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeSshKey<T extends keyof SshKeyOperations> extends AggregateCommand<SshKeyOperations, T> {}
