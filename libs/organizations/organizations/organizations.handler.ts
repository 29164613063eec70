import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { checkQuota, Ids, Quotas, sql } from '#kernel';
import { EventStore, getFirstRow, getFirstRowOrNull, newStream, decideWrite } from '#event-store';
import { refuseTakenName } from '#postgres';
import {
  verifyCurrentAccess,
  createEventContext,
  countOwned,
  requirePermission,
  requireCurrentAccess,
  SITE_SCOPE,
  type Actor,
  type Permission,
} from '#access';
import { expectPoolVersion } from '#agents';
import { prepareOwnersTeam } from '#people';
import {
  organization,
  ORGANIZATION_POOL_POINTER,
  type FeatureSet,
  type OrganizationChanges,
  type OrganizationCommand,
} from './organization.js';
import { selectOrganizationById, loadOrganizationForCommand, type OrganizationRow } from './organizations.queries.js';
import { DEFAULT_PROJECT, project } from '../projects/project.js';

export class CreateOrganization extends Command<OrganizationRow> {
  constructor(
    readonly data: {
      readonly name: string;
      readonly email: string;
      readonly featureSet: FeatureSet;
      readonly settings: Omit<OrganizationChanges, 'name' | 'email'>;
    },
    readonly actor: Actor,
  ) {
    super();
  }
}

type ExistingOrganizationCommand = Exclude<OrganizationCommand, { type: 'CreateOrganization' }>;

/** A command for the organization of that name; resolves to how it stands then, null when it is gone. */
export class ChangeOrganization extends Command<OrganizationRow | null> {
  constructor(
    readonly name: string,
    readonly command: ExistingOrganizationCommand,
    readonly actor: Actor,
  ) {
    super();
  }
}

const PERMISSION = {
  UpdateOrganization: 'update-organization',
  ChangeFeatureSet: 'manage-subscription',
  ChangeTokenTtlPolicies: 'update-organization',
  DeleteOrganization: 'delete-organization',
} as const satisfies Record<ExistingOrganizationCommand['type'], Permission>;

const refuseTaken = refuseTakenName(['organizations_name_key', 'organizations_reserved_name_key']);

const getPool = (command: ExistingOrganizationCommand): string | null =>
  (command.type === 'UpdateOrganization' && command.data.changes.defaultAgentPool) || null;

/** An organization is born together with its default project and its owners team, whose first member made it. */
@CommandHandler(CreateOrganization)
export class CreateOrganizationHandler implements ICommandHandler<CreateOrganization> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly quotas: Quotas,
  ) {}

  async execute({ data, actor }: CreateOrganization): Promise<OrganizationRow> {
    // Tokens of organizations and teams act inside theirs; only people found new ones.
    requirePermission(actor, 'create-organization', SITE_SCOPE);
    await this.checkOwned(actor);
    const id = this.ids.next('org');
    const defaultProject = this.ids.next('prj');
    const owners = prepareOwnersTeam(this.ids, id, { user: actor.id, username: actor.name });
    const writes = [
      decideWrite(organization, newStream(id, organization), id, {
        type: 'CreateOrganization',
        data: { ...data, defaultProject, ownersTeam: owners.team },
      }),
      decideWrite(project, newStream(defaultProject, project), id, {
        type: 'CreateProject',
        data: { name: DEFAULT_PROJECT },
      }),
      ...owners.writes,
    ];
    // It has no pools yet, so that it can name none.
    expectPoolVersion(data.settings.defaultAgentPool ?? null, null, { pointer: ORGANIZATION_POOL_POINTER });
    // Nothing is read before, so the proof that the caller is who they were goes with the writing.
    const stillThemselves = [sql`select ${requireCurrentAccess(actor)}`];
    const { rows } = await this.store
      .append(writes, createEventContext(actor), [selectOrganizationById(id)], stillThemselves)
      .catch(refuseTaken);
    return getFirstRow<OrganizationRow>(rows);
  }

  /** Needs no statement below the quota: the append fails if the caller owns other organizations than is known here. */
  private async checkOwned(actor: Actor): Promise<void> {
    const { organizationsPerUser: most } = this.quotas;
    if (actor.siteAdmin || most === null || countOwned(actor) < most) return;
    // If the caller has just deleted one, this repeats the request with what they own now.
    await verifyCurrentAccess(this.store.database, actor);
    checkQuota('organizationsPerUser', most, countOwned(actor));
  }
}

@CommandHandler(ChangeOrganization)
export class OrganizationsHandler implements ICommandHandler<ChangeOrganization> {
  constructor(private readonly store: EventStore) {}

  async execute({ name, command, actor }: ChangeOrganization): Promise<OrganizationRow | null> {
    const pool = getPool(command);
    const load = async () => {
      const row = await loadOrganizationForCommand(this.store.database, actor, PERMISSION[command.type], name, pool);
      return { ...(await this.store.restore(row.id, organization, row.snapshot)), row };
    };
    const { rows } = await this.store
      .handle({
        decider: organization,
        load,
        command: () => command,
        organization: ({ stream }) => stream,
        holding: ({ row }) => expectPoolVersion(pool, row.poolVersion, { pointer: ORGANIZATION_POOL_POINTER }),
        context: createEventContext(actor),
        read: ({ stream }) => [selectOrganizationById(stream)],
      })
      .catch(refuseTaken);
    return getFirstRowOrNull<OrganizationRow>(rows);
  }
}
