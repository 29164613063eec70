import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { AllowedRangeContent, IpAllowlistContent } from './ip-allowlist.js';
import type { AllowedRangeRow, IpAllowlistRow } from './ip-allowlists.queries.js';

export type NewIpAllowlist = IpAllowlistContent & { readonly ranges: readonly AllowedRangeContent[] };

/** `agentPools` are ids. */
type ChangeAgentPools = Operation<{ list: string; agentPools: readonly string[]; actor: Actor }, void>;

export type IpAllowlistOperations = {
  CreateIpAllowlist: Operation<{ organization: string; list: NewIpAllowlist; actor: Actor }, IpAllowlistRow>;
  /** An attribute that is absent keeps its value. Resolves to null if the list has been deleted meanwhile. */
  UpdateIpAllowlist: Operation<
    { list: string; changes: Partial<IpAllowlistContent>; actor: Actor },
    IpAllowlistRow | null
  >;
  DeleteIpAllowlist: Operation<{ list: string; actor: Actor }, void>;
  AssignAgentPools: ChangeAgentPools;
  UnassignAgentPools: ChangeAgentPools;
  AddAllowedRange: Operation<{ list: string; range: AllowedRangeContent; actor: Actor }, AllowedRangeRow | null>;
  /** An attribute that is absent keeps its value. Resolves to null if the range has been removed meanwhile. */
  UpdateAllowedRange: Operation<
    { range: string; changes: Partial<AllowedRangeContent>; actor: Actor },
    AllowedRangeRow | null
  >;
  RemoveAllowedRange: Operation<{ range: string; actor: Actor }, void>;
};

export class ChangeIpAllowlist<T extends keyof IpAllowlistOperations> extends AggregateCommand<
  IpAllowlistOperations,
  T
> {}
