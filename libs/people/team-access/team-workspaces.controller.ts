import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Database } from '#postgres';
import { notFound } from '#kernel';
import {
  toAttributes,
  renderDocument,
  storedOnly,
  renderPage,
  parsePage,
  parseBody,
  requireParameter,
  requiredToOne,
  resourceBody,
  omitNullish,
  slicePage,
  toOne,
  fromAttributes,
  type Document,
  type QueryParameters as QueryOf,
  type Resource,
} from '#json-api';
import { CurrentActor, WORKSPACE_FIELDS, WORKSPACE_LEVELS, type Actor, type WorkspaceAccess } from '#access';
import { ChangeTeamWorkspace } from './team-workspaces.commands.js';
import { checkFields, expandAccess, type NamedFields } from './team-access.js';
import { listTeamAccesses, findTeamAccess, type TeamWorkspaceRow } from './team-access.queries.js';
import { WORKSPACE_ACCESS_SCALE } from './team-workspace.js';

const fields = {
  runs: z.enum(WORKSPACE_FIELDS.runs).nullish(),
  variables: z.enum(WORKSPACE_FIELDS.variables).nullish(),
  'state-versions': z.enum(WORKSPACE_FIELDS.stateVersions).nullish(),
  'sentinel-mocks': storedOnly(z.enum(WORKSPACE_FIELDS.sentinelMocks).nullish()),
  'workspace-locking': z.boolean().nullish(),
  'run-tasks': storedOnly(z.boolean().nullish()),
  'policy-overrides': storedOnly(z.boolean().nullish()),
};
const access = z.enum(WORKSPACE_LEVELS);
export const createBody = resourceBody(
  'team-workspaces',
  z.object({ access, ...fields }),
  z.object({ team: requiredToOne, workspace: requiredToOne }),
);
const changedAttributes = z.object({ access: access.nullish(), ...fields });
export const updateBody = resourceBody('team-workspaces', changedAttributes.default({}));

type TeamWorkspaceAttributes = z.infer<typeof updateBody>['data']['attributes'];

/** Returns the fields of a request. Ignores null, because single fields cannot be cleared. */
const toAccessFields = (attributes: TeamWorkspaceAttributes): NamedFields<WorkspaceAccess> => {
  const { access: _, ...accessFields } = attributes;
  return fromAttributes(omitNullish(accessFields));
};

/** Parses the attributes again, because a request may also contain attributes that this resource does not have. */
const checkAttributes = (sound: object): void => {
  const attributes = changedAttributes.parse(sound);
  checkFields(attributes.access, toAccessFields(attributes), WORKSPACE_ACCESS_SCALE);
};

const renderTeamWorkspace = (row: TeamWorkspaceRow): Resource => ({
  id: row.id,
  type: 'team-workspaces',
  attributes: {
    access: row.access,
    ...toAttributes(expandAccess(row, WORKSPACE_ACCESS_SCALE)),
  },
  relationships: {
    team: toOne('teams', row.team, `/api/v2/teams/${row.team}`),
    workspace: toOne('workspaces', row.target, `/api/v2/workspaces/${row.target}`),
  },
  links: { self: `/api/v2/team-workspaces/${row.id}` },
});

@Controller('api/v2/team-workspaces')
export class TeamWorkspacesController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get()
  async list(@Query() query: QueryOf, @Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    const page = parsePage(query);
    const workspace = requireParameter(query, 'filter[workspace][id]');
    const rows = await listTeamAccesses(this.database, actor, 'workspace', workspace);
    return renderPage(slicePage(rows, page).map(renderTeamWorkspace), page, rows.length, request.url);
  }

  @Post()
  async create(@Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { attributes, relationships } = parseBody(createBody, body, checkAttributes).data;
    const terms = { access: attributes.access, fields: toAccessFields(attributes) };
    const input = { team: relationships.team.data.id, workspace: relationships.workspace.data.id, terms, actor };
    return renderDocument(
      renderTeamWorkspace(await this.bus.execute(new ChangeTeamWorkspace('AddTeamWorkspace', input))),
    );
  }

  @Get(':id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(renderTeamWorkspace(await findTeamAccess(this.database, actor, 'workspace', 'read', id)));
  }

  @Patch(':id')
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { attributes } = parseBody(updateBody, body, checkAttributes).data;
    const data = { ...omitNullish({ access: attributes.access }), fields: toAccessFields(attributes) };
    const row = await this.bus.execute(new ChangeTeamWorkspace('UpdateTeamWorkspace', { id, data, actor }));
    if (!row) throw notFound();
    return renderDocument(renderTeamWorkspace(row));
  }

  @Delete(':id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeTeamWorkspace('RemoveTeamWorkspace', { id, actor }));
  }
}
