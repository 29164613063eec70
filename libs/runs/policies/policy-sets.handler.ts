import { CommandHandler } from '@nestjs/cqrs';
import { Ids, Refusal, unprocessable, type Problem } from '#platform/kernel';
import { refuseTakenName } from '#platform/postgres';
import {
  AggregateCommand,
  AggregateHandler,
  EventStore,
  getFirstRow,
  getFirstRowOrNull,
  lockStream,
  type Operation,
  type OperationTable,
} from '#storage/event-store';
import { changeResource, createResource, type Actor } from '#api/access';
import { findOpaRelease, type SiteRelease } from '#workspaces/workspaces';
import {
  policySet,
  POLICY_SET_RELATIONS,
  type PolicySetCommand,
  type PolicySetMembers,
  type PolicySetRelation,
  type PolicySetSettings,
} from './policy-set.js';
import {
  findPolicySetForCommand,
  loadOrganizationForPolicySet,
  POLICY_SET_NAMES,
  raiseAbovePolicySetLimits,
  selectPolicySetById,
  type PolicySetRow,
} from './policy-sets.view.js';

type PolicySetOperations = {
  CreatePolicySet: Operation<
    { organization: string; settings: PolicySetSettings; members: PolicySetMembers; actor: Actor },
    PolicySetRow
  >;
  /** `members`: each list replaces those of its relation. Resolves to null if the set has been deleted meanwhile. */
  UpdatePolicySet: Operation<
    { id: string; changes: Partial<PolicySetSettings>; members: Partial<PolicySetMembers>; actor: Actor },
    PolicySetRow | null
  >;
  AttachToPolicySet: Operation<{ id: string; relation: PolicySetRelation; ids: readonly string[]; actor: Actor }, void>;
  DetachFromPolicySet: Operation<
    { id: string; relation: PolicySetRelation; ids: readonly string[]; actor: Actor },
    void
  >;
  DeletePolicySet: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangePolicySet<T extends keyof PolicySetOperations> extends AggregateCommand<PolicySetOperations, T> {}

/** The most policy sets of an organization, and the most policies in all of them together: a plan evaluates at most these. */
const MAX_SETS = 50;
const MAX_POLICIES = 300;
/** The most versions of OPA that they name: an executor downloads each. */
const MAX_VERSIONS = 5;

const refuseTaken = refuseTakenName(POLICY_SET_NAMES.constraint);

/** Changes of numbers lock this name, so that the limits are exact. No event has this stream. */
const nameLock = (organization: string): string => `policy sets of ${organization}`;

const NOUNS: Readonly<Record<PolicySetRelation, string>> = {
  policies: 'Policy',
  workspaces: 'Workspace',
  projects: 'Project',
  'workspace-exclusions': 'Workspace',
  'project-exclusions': 'Project',
};

/** Refuses members that do not exist in the organization. */
const checkKnown = (
  requested: Partial<PolicySetMembers>,
  existingMembers: PolicySetMembers,
  pointer: (relation: PolicySetRelation) => string,
): void => {
  const problems = POLICY_SET_RELATIONS.flatMap((relation) => {
    const ids = new Set(existingMembers[relation]);
    return (requested[relation] ?? []).flatMap((id, index): Problem[] =>
      ids.has(id)
        ? []
        : [{ detail: `${NOUNS[relation]} ${id} does not exist`, pointer: `${pointer(relation)}/${index}/id` }],
    );
  });
  if (problems.length > 0) throw new Refusal('unprocessable', problems);
};

type KnownVersions = {
  readonly siteOpaReleases: readonly SiteRelease[];
  readonly otherVersions: readonly string[];
};

const checkToolVersion = (
  version: string | null | undefined,
  { siteOpaReleases, otherVersions }: KnownVersions,
): void => {
  if (version === undefined) return;
  if (findOpaRelease(version, siteOpaReleases) === null) {
    const subject = version === null ? 'No release of OPA is enabled' : `${version} is no enabled release of OPA`;
    throw unprocessable(`Policy tool version: ${subject} on this site`, 'policy-tool-version');
  }
  if (version === null || otherVersions.includes(version) || otherVersions.length < MAX_VERSIONS) return;
  throw unprocessable(
    `The policy sets of an organization can name at most ${MAX_VERSIONS} versions of OPA: ${otherVersions.join(', ')}`,
    'policy-tool-version',
  );
};

const toRelationshipPointer = (relation: PolicySetRelation): string => `/data/relationships/${relation}/data`;

type PolicySetChange = {
  /** `existing`: the members of the set that exist. */
  readonly command: (existing: PolicySetMembers) => PolicySetCommand;
  /** Each list replaces those of its relation, or is added to it. */
  readonly members: Partial<PolicySetMembers>;
  readonly attaches?: boolean;
  readonly pointer: (relation: PolicySetRelation) => string;
  readonly toolVersion?: string | null | undefined;
};

/** Returns by how many policies the set grows: fewer than 0 if it loses some. */
const countGrowth = (
  before: readonly string[],
  requested: readonly string[] | undefined,
  attaches: boolean,
): number => {
  if (!requested) return 0;
  return new Set(attaches ? [...before, ...requested] : requested).size - before.length;
};

@CommandHandler(ChangePolicySet)
export class PolicySetsHandler extends AggregateHandler<PolicySetOperations> {
  protected readonly operations: OperationTable<PolicySetOperations> = {
    CreatePolicySet: (input) => this.create(input),
    UpdatePolicySet: ({ id, changes, members, actor }) =>
      this.change(id, actor, {
        command: (existing) => ({ type: 'UpdatePolicySet', data: { changes, members, existing } }),
        members,
        pointer: toRelationshipPointer,
        toolVersion: changes.toolVersion,
      }),
    AttachToPolicySet: async ({ id, relation, ids, actor }) => {
      const command = (existing: PolicySetMembers) =>
        ({ type: 'AttachToPolicySet', data: { relation, ids, existing } }) as const;
      await this.change(id, actor, { command, members: { [relation]: ids }, pointer: () => '/data', attaches: true });
    },
    // What has been deleted can be detached too.
    DetachFromPolicySet: async ({ id, relation, ids, actor }) => {
      const command = () => ({ type: 'DetachFromPolicySet', data: { relation, ids } }) as const;
      await this.change(id, actor, { command, members: {}, pointer: () => '/data' });
    },
    DeletePolicySet: async ({ id, actor }) => {
      await changeResource(this.store, policySet, {
        actor,
        load: () => findPolicySetForCommand(this.store.database, actor, id, {}),
        command: { type: 'DeletePolicySet', data: {} },
      });
    },
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {
    super();
  }

  private async create(input: PolicySetOperations['CreatePolicySet']['input']): Promise<PolicySetRow> {
    const { organization: name, settings, members, actor } = input;
    const id = this.ids.next('polset');
    const rows = await createResource(this.store, policySet, {
      id,
      actor,
      load: async () => {
        const parent = await loadOrganizationForPolicySet(this.store.database, actor, name, members);
        if (parent.existing >= MAX_SETS)
          throw unprocessable(`An organization can have at most ${MAX_SETS} policy sets. Delete one first`);
        this.checkPolicies(parent.existingPolicies + new Set(members.policies).size);
        checkKnown(members, parent.existingMembers, toRelationshipPointer);
        checkToolVersion(settings.toolVersion, parent);
        return parent;
      },
      command: { type: 'CreatePolicySet', data: { ...settings, members } },
      conditions: ({ organization }) => [lockStream(nameLock(organization))],
      read: ({ organization }) => [...this.raiseAboveLimits(organization), selectPolicySetById(id)],
    }).catch(refuseTaken);
    return getFirstRow<PolicySetRow>(rows.slice(-1));
  }

  private async change(id: string, actor: Actor, change: PolicySetChange): Promise<PolicySetRow | null> {
    const { command, members, pointer, toolVersion, attaches = false } = change;
    const rows = await changeResource(this.store, policySet, {
      actor,
      load: async () => {
        const row = await findPolicySetForCommand(this.store.database, actor, id, members);
        this.checkPolicies(row.existingPolicies + countGrowth(row.members.policies, members.policies, attaches));
        checkKnown(members, row.existingMembers, pointer);
        checkToolVersion(toolVersion, row);
        return row;
      },
      command: (row) => command(row.members),
      conditions: ({ organization }) => [lockStream(nameLock(organization))],
      read: ({ organization }) => [...this.raiseAboveLimits(organization), selectPolicySetById(id)],
    }).catch(refuseTaken);
    return getFirstRowOrNull<PolicySetRow>(rows.slice(-1));
  }

  private checkPolicies(number: number): void {
    if (number <= MAX_POLICIES) return;
    throw unprocessable(
      `The policy sets of an organization can have at most ${MAX_POLICIES} policies together`,
      'policies',
    );
  }

  /** Returns the statements that make the append conflict if another request has used up a limit meanwhile. */
  private raiseAboveLimits(organization: string) {
    return [
      raiseAbovePolicySetLimits(organization, { sets: MAX_SETS, policies: MAX_POLICIES, versions: MAX_VERSIONS }),
    ];
  }
}
