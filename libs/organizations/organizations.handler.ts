import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids, sql } from '#kernel';
import { Database, EventStore, refuseTakenName, unborn, writeOf } from '#event-store';
import { contextOf, fresh, NO_ORGANIZATION_ACCESS, OWNERS, team, type Actor, type Permission } from '#access';
import { organization, type FeatureSet, type OrganizationCommand, type OrganizationSettings } from './organization.js';
import { organizationById, organizationForCommand, type OrganizationRow } from './organizations.queries.js';
import { DEFAULT_PROJECT, project } from './project.js';

export class CreateOrganization extends Command<OrganizationRow> {
  constructor(
    readonly data: {
      readonly name: string;
      readonly email: string;
      readonly featureSet: FeatureSet;
      readonly settings: Partial<OrganizationSettings>;
    },
    readonly actor: Actor,
  ) {
    super();
  }
}

/** A command for the organization of that name; resolves to how it stands then, null when it is gone. */
export class ToOrganization extends Command<OrganizationRow | null> {
  constructor(
    readonly name: string,
    readonly permission: Permission,
    readonly command: Exclude<OrganizationCommand, { type: 'CreateOrganization' }>,
    readonly actor: Actor,
  ) {
    super();
  }
}

const refuseTaken = refuseTakenName('organizations_name_key');

/** An organization is born together with its default project and its owners team, whose first member made it. */
@CommandHandler(CreateOrganization)
export class CreateOrganizationHandler implements ICommandHandler<CreateOrganization> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {}

  async execute({ data, actor }: CreateOrganization): Promise<OrganizationRow> {
    const id = this.ids.next('org');
    const defaultProject = this.ids.next('prj');
    const ownersTeam = this.ids.next('team');
    const owners = { name: OWNERS, visibility: 'organization', organizationAccess: NO_ORGANIZATION_ACCESS } as const;
    const writes = [
      writeOf(organization, unborn(id, organization), id, {
        type: 'CreateOrganization',
        data: { ...data, defaultProject, ownersTeam },
      }),
      writeOf(project, unborn(defaultProject, project), id, {
        type: 'CreateProject',
        data: { name: DEFAULT_PROJECT, description: null, settings: {} },
      }),
      writeOf(
        team,
        unborn(ownersTeam, team),
        id,
        { type: 'CreateTeam', data: owners },
        ...(actor.kind === 'user'
          ? [{ type: 'AddTeamMember', data: { user: actor.id, username: actor.name } } as const]
          : []),
      ),
    ];
    // Nothing is read before, so the proof that the caller is who they were goes with the writing.
    const stillThemselves = [sql`select ${fresh(actor)}`];
    const { rows } = await this.store
      .append(writes, contextOf(actor), [organizationById(id)], stillThemselves)
      .catch(refuseTaken);
    return rows[0]?.[0] as OrganizationRow;
  }
}

@CommandHandler(ToOrganization)
export class OrganizationsHandler implements ICommandHandler<ToOrganization> {
  constructor(
    private readonly store: EventStore,
    private readonly database: Database,
  ) {}

  async execute({ name, permission, command, actor }: ToOrganization): Promise<OrganizationRow | null> {
    const load = async () => {
      const row = await organizationForCommand(this.database, actor, permission, name);
      return this.store.restore(row.id, organization, row.snapshot);
    };
    const { rows } = await this.store
      .handle({
        decider: organization,
        load,
        command: () => command,
        organization: ({ stream }) => stream,
        context: contextOf(actor),
        read: ({ stream }) => [organizationById(stream)],
      })
      .catch(refuseTaken);
    return (rows[0]?.[0] as OrganizationRow | undefined) ?? null;
  }
}
