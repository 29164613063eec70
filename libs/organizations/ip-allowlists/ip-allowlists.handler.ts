import { CommandHandler } from '@nestjs/cqrs';
import { Ids, unprocessable, type Sql } from '#platform/kernel';
import { getViolatedConstraint, refuseTakenName, type DatabaseRow } from '#platform/postgres';
import { type Actor, createResource, changeResource } from '#api/access';
import {
  AggregateCommand,
  type Operation,
  AggregateHandler,
  EventStore,
  getFirstRow,
  getFirstRowOrNull,
  type OperationTable,
} from '#storage/event-store';
import {
  type AllowedRangeContent,
  type IpAllowlistContent,
  ipAllowlist,
  type IpAllowlistCommand,
} from './ip-allowlist.js';
import {
  type AllowedRangeRow,
  type IpAllowlistRow,
  loadIpAllowlist,
  loadOrganizationForIpAllowlist,
  selectAllowedRangeById,
  selectIpAllowlistById,
  type IpAllowlistTarget,
} from './ip-allowlists.view.js';

export type NewIpAllowlist = IpAllowlistContent & { readonly ranges: readonly AllowedRangeContent[] };

/** `agentPools` are ids. */
type ChangeAgentPools = Operation<{ list: string; agentPools: readonly string[]; actor: Actor }, void>;

type IpAllowlistOperations = {
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

/** The limit for an organization. Simultaneous requests can exceed it by their number, which is harmless. */
const MAX_LISTS = 20;

const refuseTaken = refuseTakenName('ip_allowlists_organization_name_key');

/** Translates violations of the unique indexes into refusals. */
const refuseSecondList = (error: unknown): never => {
  if (getViolatedConstraint(error) === 'ip_allowlists_one_for_organization') {
    throw unprocessable(
      'The organization has a list with the enforcement-scope organization already. Add the ranges to that list',
      'enforcement-scope',
    );
  }
  return refuseTaken(error);
};

/** Site administrators are not restricted by lists, so no change can lock them out. */
const getKeptAddress = ({ siteAdmin, request }: Actor): string | null => (siteAdmin ? null : (request.address ?? ''));

type ListChange = {
  readonly target: IpAllowlistTarget;
  readonly command: Exclude<IpAllowlistCommand, { type: 'CreateIpAllowlist' }>;
  readonly actor: Actor;
  readonly read: readonly Sql[];
};

const getNamedPools = (command: IpAllowlistCommand): readonly string[] =>
  command.type === 'AssignAgentPools' ? command.data.agentPools : [];

const requirePools = (pools: readonly string[], existing: readonly string[]): void => {
  const unknown = pools.find((pool) => !existing.includes(pool));
  if (unknown !== undefined) throw unprocessable(`Agent pool ${unknown} does not exist in the organization`, '/data');
};

@CommandHandler(ChangeIpAllowlist)
export class IpAllowlistsHandler extends AggregateHandler<IpAllowlistOperations> {
  protected readonly operations: OperationTable<IpAllowlistOperations> = {
    CreateIpAllowlist: (input) => this.create(input),
    UpdateIpAllowlist: async ({ list, changes, actor }) => {
      const command = { type: 'UpdateIpAllowlist', data: { changes, keep: getKeptAddress(actor) } } as const;
      const rows = await this.change({ target: { list }, command, actor, read: [selectIpAllowlistById(list)] });
      return getFirstRowOrNull<IpAllowlistRow>(rows);
    },
    DeleteIpAllowlist: async ({ list, actor }) => {
      await this.change({ target: { list }, command: { type: 'DeleteIpAllowlist', data: {} }, actor, read: [] });
    },
    AssignAgentPools: async ({ list, agentPools, actor }) => {
      const command = { type: 'AssignAgentPools', data: { agentPools } } as const;
      await this.change({ target: { list }, command, actor, read: [] });
    },
    UnassignAgentPools: async ({ list, agentPools, actor }) => {
      const command = { type: 'UnassignAgentPools', data: { agentPools } } as const;
      await this.change({ target: { list }, command, actor, read: [] });
    },
    AddAllowedRange: ({ list, range, actor }) => {
      const id = this.ids.next('cidr');
      const command = { type: 'AddAllowedRange', data: { ...range, id, keep: getKeptAddress(actor) } } as const;
      return this.changeRange({ target: { list }, command, actor }, id);
    },
    UpdateAllowedRange: ({ range: id, changes, actor }) => {
      const command = { type: 'UpdateAllowedRange', data: { id, changes, keep: getKeptAddress(actor) } } as const;
      return this.changeRange({ target: { range: id }, command, actor }, id);
    },
    RemoveAllowedRange: async ({ range: id, actor }) => {
      const command = { type: 'RemoveAllowedRange', data: { id, keep: getKeptAddress(actor) } } as const;
      await this.change({ target: { range: id }, command, actor, read: [] });
    },
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {
    super();
  }

  private async create(input: IpAllowlistOperations['CreateIpAllowlist']['input']): Promise<IpAllowlistRow> {
    const { organization, list, actor } = input;
    const id = this.ids.next('crl');
    const ranges = list.ranges.map((range) => ({ ...range, id: this.ids.next('cidr') }));
    const rows = await createResource(this.store, ipAllowlist, {
      id,
      actor,
      load: async () => {
        const parent = await loadOrganizationForIpAllowlist(this.store.database, actor, organization);
        if (parent.existing >= MAX_LISTS) {
          throw unprocessable(`An organization can have at most ${MAX_LISTS} IP allowlists. Delete one`);
        }
        return parent;
      },
      command: { type: 'CreateIpAllowlist', data: { ...list, ranges, keep: getKeptAddress(actor) } },
      read: () => [selectIpAllowlistById(id)],
    }).catch(refuseSecondList);
    return getFirstRow<IpAllowlistRow>(rows);
  }

  private async changeRange(change: Omit<ListChange, 'read'>, range: string): Promise<AllowedRangeRow | null> {
    return getFirstRowOrNull<AllowedRangeRow>(await this.change({ ...change, read: [selectAllowedRangeById(range)] }));
  }

  private change({ target, command, actor, read }: ListChange): Promise<readonly DatabaseRow[][]> {
    const pools = getNamedPools(command);
    return changeResource(this.store, ipAllowlist, {
      actor,
      load: async () => {
        const row = await loadIpAllowlist(this.store.database, actor, target, pools);
        requirePools(pools, row.agentPools);
        return row;
      },
      command,
      read: () => read,
    }).catch(refuseSecondList);
  }
}
