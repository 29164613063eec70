import { z } from 'zod';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { Database } from '#platform/postgres';
import { notFound } from '#platform/kernel';
import { WORKSPACE_LEVELS, type WorkspaceAccess, ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import {
  fromAttributes,
  omitNullish,
  requiredToOne,
  resourceBody,
  renderDocument,
  renderPage,
  parsePage,
  parseBody,
  requireParameter,
  slicePage,
  type Document,
  type QueryParameters as QueryOf,
} from '#api/json-api';
import { flag, sharedFields, storedFlag } from './team-access.body.js';
import { checkFields, type NamedFields } from './team-access.js';
import { WORKSPACE_ACCESS_SCALE } from './team-workspace.js';
import { ChangeTeamWorkspace } from './team-workspaces.handler.js';
import { listTeamAccesses, findTeamAccess } from './team-access.view.js';
import { renderTeamWorkspace } from './team-access.document.js';

const fields = {
  ...sharedFields,
  'workspace-locking': flag,
  'run-tasks': flag,
  'policy-overrides': storedFlag,
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
export const toAccessFields = (attributes: TeamWorkspaceAttributes): NamedFields<WorkspaceAccess> => {
  const { access: _, ...accessFields } = attributes;
  return fromAttributes(omitNullish(accessFields));
};

/** Parses the attributes again, because a request may also contain attributes that this resource does not have. */
export const checkAttributes = (parsedAttributes: object): void => {
  const attributes = changedAttributes.parse(parsedAttributes);
  checkFields(attributes.access, toAccessFields(attributes), WORKSPACE_ACCESS_SCALE);
};

@Controller('api/v2/team-workspaces')
export class TeamWorkspacesController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get()
  @ConfigureRoute({ filters: ['filter[workspace][id]'] })
  async list(@Query() query: QueryOf, @Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    const page = parsePage(query);
    const workspace = requireParameter(query, 'filter[workspace][id]');
    const rows = await listTeamAccesses(this.database, actor, 'workspace', workspace);
    return renderPage(slicePage(rows, page).map(renderTeamWorkspace), page, rows.length, request.publicUrl);
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
