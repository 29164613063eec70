import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { WorkloadIdentityRow } from './workload-identities.queries.js';
import type { NewWorkloadIdentity, WorkloadIdentityChanges } from './workload-identity.js';

export type WorkloadIdentityOperations = {
  CreateWorkloadIdentity: Operation<{ team: string; settings: NewWorkloadIdentity; actor: Actor }, WorkloadIdentityRow>;
  /** Disabling an identity ends its tokens. Resolves to null if it has been deleted meanwhile. */
  UpdateWorkloadIdentity: Operation<
    { id: string; changes: WorkloadIdentityChanges; actor: Actor },
    WorkloadIdentityRow | null
  >;
  /** Also ends the tokens of the identity. */
  DeleteWorkloadIdentity: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeWorkloadIdentity<T extends keyof WorkloadIdentityOperations> extends AggregateCommand<
  WorkloadIdentityOperations,
  T
> {}
