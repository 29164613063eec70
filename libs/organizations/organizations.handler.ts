import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { checkQuota, Ids, Quotas, sql } from '#kernel';
import { EventStore, firstRow, firstRowOrNull, refuseTakenName, unborn, writeOf } from '#event-store';
import { confirm, contextOf, countOwned, demand, fresh, SITE, type Actor, type Permission } from '#access';
import { heldPool } from '#agents';
import { foundOwners } from '#people';
import {
  organization,
  POOL,
  type FeatureSet,
  type OrganizationChanges,
  type OrganizationCommand,
} from './organization.js';
import { organizationById, organizationForCommand, type OrganizationRow } from './organizations.queries.js';
import { DEFAULT_PROJECT, project } from './project.js';

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

type LaterCommand = Exclude<OrganizationCommand, { type: 'CreateOrganization' }>;

/** A command for the organization of that name; resolves to how it stands then, null when it is gone. */
export class ToOrganization extends Command<OrganizationRow | null> {
  constructor(
    readonly name: string,
    readonly command: LaterCommand,
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
} as const satisfies Record<LaterCommand['type'], Permission>;

const refuseTaken = refuseTakenName(['organizations_name_key', 'organizations_reserved_name_key']);

const poolOf = (command: LaterCommand): string | null =>
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
    demand(actor, 'create-organization', SITE);
    await this.checkOwned(actor);
    const id = this.ids.next('org');
    const defaultProject = this.ids.next('prj');
    const owners = foundOwners(this.ids, id, { user: actor.id, username: actor.name });
    const writes = [
      writeOf(organization, unborn(id, organization), id, {
        type: 'CreateOrganization',
        data: { ...data, defaultProject, ownersTeam: owners.team },
      }),
      writeOf(project, unborn(defaultProject, project), id, {
        type: 'CreateProject',
        data: { name: DEFAULT_PROJECT },
      }),
      ...owners.writes,
    ];
    // It has no pools yet, so that it can name none.
    heldPool(data.settings.defaultAgentPool ?? null, null, { pointer: POOL });
    // Nothing is read before, so the proof that the caller is who they were goes with the writing.
    const stillThemselves = [sql`select ${fresh(actor)}`];
    const { rows } = await this.store
      .append(writes, contextOf(actor), [organizationById(id)], stillThemselves)
      .catch(refuseTaken);
    return firstRow<OrganizationRow>(rows);
  }

  /** Needs no statement below the quota: the append fails if the caller owns other organizations than is known here. */
  private async checkOwned(actor: Actor): Promise<void> {
    const { organizationsPerUser: most } = this.quotas;
    if (actor.siteAdmin || most === null || countOwned(actor) < most) return;
    // If the caller has just deleted one, this repeats the request with what they own now.
    await confirm(this.store.database, actor);
    checkQuota('organizationsPerUser', most, countOwned(actor));
  }
}

@CommandHandler(ToOrganization)
export class OrganizationsHandler implements ICommandHandler<ToOrganization> {
  constructor(private readonly store: EventStore) {}

  async execute({ name, command, actor }: ToOrganization): Promise<OrganizationRow | null> {
    const pool = poolOf(command);
    const load = async () => {
      const row = await organizationForCommand(this.store.database, actor, PERMISSION[command.type], name, pool);
      return { ...(await this.store.restore(row.id, organization, row.snapshot)), row };
    };
    const { rows } = await this.store
      .handle({
        decider: organization,
        load,
        command: () => command,
        organization: ({ stream }) => stream,
        holding: ({ row }) => heldPool(pool, row.poolVersion, { pointer: POOL }),
        context: contextOf(actor),
        read: ({ stream }) => [organizationById(stream)],
      })
      .catch(refuseTaken);
    return firstRowOrNull<OrganizationRow>(rows);
  }
}
